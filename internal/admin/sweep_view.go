package admin

import (
	"time"

	"patchbay/internal/connectors"
	"patchbay/web/templates"
)

// sweepShown is how long the end of a sync of all connectors is told.
const sweepShown = 5 * time.Minute

// sweepView says how far a sync of all connectors is; nil: there is nothing to say of it.
func sweepView(s connectors.Sweep, now time.Time) *templates.Sweep {
	if s.Total == 0 || !s.Open() && now.Sub(s.LastAt) > sweepShown {
		return nil
	}
	v := &templates.Sweep{
		Kind: templates.StateBusy, Title: "Syncing all connectors", Open: s.Open(), Done: s.Done(), Total: s.Total,
		Count: number(s.Done()) + " of " + number(s.Total) + " done",
	}
	if s.Failed > 0 {
		v.Failed = &templates.Link{Text: number(s.Failed) + " failed", Href: "/connectors?status=error"}
	}
	switch {
	case s.Open():
	case s.Failed > 0:
		v.Kind, v.Title = templates.StateWarn, "All connectors were asked"
	default:
		v.Kind, v.Title = templates.StateOK, "All connectors are synced"
	}
	return v
}
