package templates

// CatalogPage offers servers to choose from.
type CatalogPage struct {
	Frame      Frame
	Query      string
	Category   string // the chosen value of Categories
	Categories []Option
	Auth       string // the chosen value of Auths
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
	SignIn      string // "Account (OAuth)", "No sign-in"
	Note        string // what to know before; empty: nothing
	Docs        string // address of its documentation; empty: none
	Own         bool   // the operator's
	Add         string // where a POST adds it
	Added       *Link  // the connector that leads there already; nil: none
}

// Monogram is an icon of letters on a colour of its own, the same in both themes.
type Monogram struct {
	Letters string
	Colour  string // "indigo"; a name that the stylesheet knows
}

// ListingPage takes the list of an MCP registry. Its form posts to /catalog/registry/preview; the preview's to /catalog/registry.
type ListingPage struct {
	Frame   Frame
	Form    Form
	Preview *ListingPreview // nil: nothing is listed yet
}

// ListingPreview is a registry's list, to choose from.
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
	Href    string // of the connector that leads there already; empty: none
	Value   string // what is sent where it is chosen; empty: it cannot be
}

// choosable tells whether any row can be chosen.
func (p ListingPreview) choosable() bool {
	for _, row := range p.Rows {
		if row.Value != "" {
			return true
		}
	}
	return false
}
