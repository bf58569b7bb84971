package templates

// BulkSync is the progress of a sync of all connectors.
type BulkSync struct {
	ID     string
	Kind   StateKind
	Title  string // "Syncing all connectors"
	Count  string // "412 of 1,000 done"
	Failed *Link  // "3 failed"; nil: none
	Open   bool   // some are running
	Ended  string // RFC 3339; empty: some are running
	Done   int
	Total  int
}
