package connectors

import "time"

// Bounds of the days of history. Counts over 30 days need at least those.
const (
	MinHistoryDays     = 30
	MaxHistoryDays     = 3650
	DefaultHistoryDays = 90
)

// HistoryPart is a kind of rows that are deleted when old.
type HistoryPart string

// The parts of a tenant's history.
const (
	PartCalls       HistoryPart = "tool_calls"
	PartRuns        HistoryPart = "sync_runs"
	PartHealth      HistoryPart = "connector_health"
	PartChanges     HistoryPart = "tool_changes"
	PartDefinitions HistoryPart = "tool_definitions" // after the changes that refer to them
	PartKeys        HistoryPart = "keys"             // of programs and agents, after their last validity
)

// HistoryParts lists them in the order of deletion.
var HistoryParts = []HistoryPart{PartCalls, PartRuns, PartHealth, PartChanges, PartDefinitions, PartKeys}

// KeptDays returns a tenant's days of history: its own (0: the maximum), limited by the installation's maximum.
func KeptDays(own, maximum int) int {
	if own == 0 {
		return maximum
	}
	return min(own, maximum)
}

// HistoryStart returns the time before which history is deleted. Days have 24 hours, across clock changes too.
func HistoryStart(now time.Time, days int) time.Time { return now.UTC().AddDate(0, 0, -days) }
