package admin

import (
	"context"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/words"
	"patchbay/web/templates"
)

// sweepEndShownFor is how long the result of a sync of all connectors is shown.
const sweepEndShownFor = 5 * time.Minute

// sweepView shows the progress of a sync of all connectors; nil if there is nothing to show.
func sweepView(ctx context.Context, s connectors.Sweep, now time.Time) *templates.Sweep {
	if s.Total == 0 || !s.Open() && now.Sub(s.LastAt) > sweepEndShownFor {
		return nil
	}
	v := &templates.Sweep{
		Kind: templates.StateBusy, Title: words.T(ctx, "Syncing all connectors"), Open: s.Open(), Done: s.Done(), Total: s.Total,
		Count: words.T(ctx, "%s of %s done", words.Number(ctx, s.Done()), words.Number(ctx, s.Total)),
	}
	if s.Failed > 0 {
		v.Failed = &templates.Link{Text: words.T(ctx, "%s failed", words.Number(ctx, s.Failed)), Href: "/connectors?status=error"}
	}
	switch {
	case s.Open():
	case s.Failed > 0:
		v.Kind, v.Title = templates.StateWarn, words.T(ctx, "All connectors were asked")
	default:
		v.Kind, v.Title = templates.StateOK, words.T(ctx, "All connectors are synced")
	}
	return v
}
