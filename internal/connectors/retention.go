package connectors

import "time"

// How many days of history may be kept. What is counted over 30 days has to be there.
const (
	LeastHistoryDays   = 30
	MostHistoryDays    = 3650
	DefaultHistoryDays = 90
)

// HistoryPart is a kind of rows that are forgotten when they are old.
type HistoryPart string

// The parts of a tenant's history.
const (
	PartCalls       HistoryPart = "tool_calls"
	PartRuns        HistoryPart = "sync_runs"
	PartHealth      HistoryPart = "connector_health"
	PartChanges     HistoryPart = "tool_changes"
	PartDefinitions HistoryPart = "tool_definitions" // after the changes that show them
	PartKeys        HistoryPart = "keys"             // of programs and agents, that have been of no use for so long
)

// HistoryParts lists them, in the order in which they are swept.
var HistoryParts = []HistoryPart{PartCalls, PartRuns, PartHealth, PartChanges, PartDefinitions, PartKeys}

// KeptDays is how many days of history there are of a tenant that wants own days (0: as many as there are), where the installation keeps
// most.
func KeptDays(own, most int) int {
	if own == 0 {
		return most
	}
	return min(own, most)
}

// HistoryStart is the time before which history is forgotten. Days have 24 hours, also where clocks are changed twice a year.
func HistoryStart(now time.Time, days int) time.Time { return now.UTC().AddDate(0, 0, -days) }
