package catalog

import (
	"slices"

	"patchbay/internal/connectors"
)

// Entry is one server of the catalog.
type Entry struct {
	Slug        string
	Name        string
	Publisher   string // who runs the server
	Category    Category
	Description string // one sentence
	URL         string
	Transport   connectors.Transport
	Auth        connectors.AuthType
	Header      string   // of an API key
	Scopes      []string // to ask for; empty: what the server says
	OwnClient   bool     // of oauth2: no client can register itself, so that a client id must be entered
	Note        string   // what an admin should know before; may be empty
	Docs        string   // where its documentation is; may be empty for the operator's own
	Source      string   // the page where these facts were read; likewise
	Verified    string   // when, as 2026-11-21; likewise
	Icon        Icon
	Own         bool // the operator's
}

// Draft is the entry as a new connector. A taken slug gets a number.
func (e Entry) Draft() connectors.Draft { return e.Over(connectors.NewDraft()) }

// Over is [Entry.Draft] with the settings of another draft, where the entry does not speak of them.
func (e Entry) Over(d connectors.Draft) connectors.Draft {
	d.Name, d.Slug, d.Description = e.Name, e.Slug, e.Description
	d.Transport, d.URL = e.Transport, e.URL
	d.Auth = connectors.Auth{Type: e.Auth, Header: e.Header}
	if e.Auth == connectors.AuthOAuth2 {
		d.OAuth.Scopes = slices.Clone(e.Scopes)
	}
	return d
}

// Category is a shelf of the catalog.
type Category string

// Categories are the shelves, in the order in which they are offered.
var Categories = []Category{
	"development", "documentation", "infrastructure", "observability", "data", "projects", "knowledge",
	"customers", "finance", "design", "web", "search", "ai", "communication", "internal",
}

var categoryNames = map[Category]string{
	"development": "Development", "documentation": "Documentation", "infrastructure": "Infrastructure", "observability": "Observability",
	"data": "Databases and analytics", "projects": "Projects and tasks", "knowledge": "Documents and knowledge", "customers": "Customers and sales",
	"finance": "Payments and finance", "design": "Design and media", "web": "Websites", "search": "Search and web data", "ai": "AI models",
	"communication": "Communication", "internal": "In-house",
}

// String is the category as people read it.
func (c Category) String() string { return categoryNames[c] }

// Auths are the ways to sign in that an entry may have: those that need nothing but what a person enters or agrees to afterwards.
var Auths = []connectors.AuthType{
	connectors.AuthOAuth2, connectors.AuthBearer, connectors.AuthAPIKey, connectors.AuthBasic, connectors.AuthNone,
}
