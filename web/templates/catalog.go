package templates

// CatalogPage lists the catalog's servers.
type CatalogPage struct {
	Frame      Frame
	Query      string
	Category   string // of Categories
	Categories []Option
	Auth       string // of Auths
	Auths      []Option
	Filtered   bool
	Count      string // "84 servers"
	Cards      []CatalogCard
}

// CatalogCard is one server of the catalog.
type CatalogCard struct {
	Name        string
	Icon        Monogram
	Publisher   string
	Category    string
	Description string
	URL         string
	Kind        string // "HTTP API"; empty: an MCP server
	SignIn      string // "Account (OAuth)", "No sign-in"
	Note        string // what to know first; empty: nothing
	Docs        string // address of its documentation; empty: none
	Own         bool   // added by the operator
	Add         string // POST address that adds it
	Added       *Link  // the connector that has the server already; nil: none
}

// Mark shows a connector beside its name.
type Mark struct {
	Picture string    // address of the server's own icon; empty: none
	Catalog *Monogram // the catalog's icon; nil: none
	Initial string    // one letter, without the others
}

// Monogram is an icon of letters, with the same colour in both themes.
type Monogram struct {
	Letters string
	Colour  string // "indigo", as in the stylesheet
}

// ListingPage reads the list of an MCP registry. Its form posts to /catalog/registry/preview; the preview's to
// /catalog/registry.
type ListingPage struct {
	Frame   Frame
	Form    Form
	Preview *ListingPreview // nil: not read yet
}

// ListingPreview is a registry's list of servers.
type ListingPreview struct {
	Title   string   // "12 servers"
	Remarks []string // what is not shown
	Rows    []ListingRow
}

// ListingRow is one server of a registry's list. All of it is remote text.
type ListingRow struct {
	Name    string
	Address string
	Summary string
	Needs   string // "Access token"
	Said    []string
	State   State  // zero: it can be chosen
	Href    string // of the connector that has the server already; empty: none
	Value   string // value of the checkbox; empty: it cannot be chosen
}

// isChoosable reports whether any row can be chosen.
func (p ListingPreview) isChoosable() bool {
	for _, row := range p.Rows {
		if row.Value != "" {
			return true
		}
	}
	return false
}
