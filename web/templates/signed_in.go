package templates

// SignedInRow is a program that somebody let be an agent by signing in for it. Ending its access posts to End; empty: this person may not.
type SignedInRow struct {
	Name  string // what it calls itself
	Host  string // whose document says who it is; empty: nobody can tell
	Agent *Link  // nil: the page is about the agent
	Who   string // who let it in; empty: the person who reads
	Opens string
	Used  When
	End   string
}
