package templates

// SignedInRow is an authorized program. Revoking posts to End; empty: this person may not.
type SignedInRow struct {
	Name  string // its name for itself
	Host  string // host of its metadata document; empty: not known
	Agent *Link  // nil: the page is the agent's
	Who   string // the authorizing member; empty: the reader
	Opens string
	Used  When
	End   string
}
