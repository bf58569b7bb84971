package templates

// Sweep is how far a sync of all connectors is.
type Sweep struct {
	Kind   StateKind
	Title  string // "Syncing all connectors"
	Count  string // "412 of 1,000 done"
	Failed *Link  // "3 failed"; nil: none did
	Open   bool   // some have not ended
	Done   int
	Total  int
}
