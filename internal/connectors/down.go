package connectors

import "patchbay/internal/fault"

// DownAfter is when a failing connector counts as down: after Failures failed syncs in a row, or at a further
// failure Minutes after the first. The database's function connector_is_down computes it.
type DownAfter struct {
	Failures int
	Minutes  int
}

// DefaultDownAfter is the setting of a new tenant.
var DefaultDownAfter = DownAfter{Failures: 3, Minutes: 10}

// Bounds of DownAfter.
const (
	maxDownFailures = 100
	maxDownMinutes  = 7 * 24 * 60
)

// Validate returns the invalid fields.
func (d DownAfter) Validate() []fault.Field {
	var c validation
	if d.Failures < 1 || d.Failures > maxDownFailures {
		c.addField("down_after_failures", "Must be 1–%d failed syncs.", maxDownFailures)
	}
	if d.Minutes < 1 || d.Minutes > maxDownMinutes {
		c.addField("down_after_minutes", "Must be 1–%d minutes.", maxDownMinutes)
	}
	return c.fields
}
