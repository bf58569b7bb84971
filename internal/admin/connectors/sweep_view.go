package connectors

import (
	"context"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/i18n"
	"patchbay/web/templates"
)

// How long the result of a sync of all connectors is shown, unless it is dismissed.
const (
	sweepEndShownFor    = time.Minute
	sweepFailedShownFor = 5 * time.Minute
)

// SweepView shows the progress of a sync of all connectors; nil if there is nothing to show.
func SweepView(ctx context.Context, s connectors.BulkSync, now time.Time) *templates.BulkSync {
	shownFor := sweepEndShownFor
	if s.Failed > 0 {
		shownFor = sweepFailedShownFor
	}
	if s.Total == 0 || !s.Open() && now.Sub(s.LastAt) > shownFor {
		return nil
	}
	v := &templates.BulkSync{
		ID: s.ID.String(), Kind: templates.StateBusy, Title: i18n.T(ctx, "Syncing all connectors"), Open: s.Open(), Done: s.Done(), Total: s.Total,
		Count: i18n.T(ctx, "%s of %s done", i18n.Number(ctx, s.Done()), i18n.Number(ctx, s.Total)),
	}
	if s.Failed > 0 {
		v.Failed = &templates.Link{Text: i18n.T(ctx, "%s failed", i18n.Number(ctx, s.Failed)), Href: "/connectors?status=error"}
	}
	if !s.Open() {
		v.Ended = s.LastAt.UTC().Format(time.RFC3339Nano)
	}
	switch {
	case s.Open():
	case s.Failed > 0:
		v.Kind, v.Title = templates.StateWarn, i18n.T(ctx, "Sync finished")
	default:
		v.Kind, v.Title = templates.StateOK, i18n.T(ctx, "All connectors synced")
	}
	return v
}
