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
	URL         string // of an HTTP API: of its OpenAPI document
	Transport   connectors.Transport
	Auth        connectors.AuthType
	Header      string   // for api_key
	Scopes      []string // to request; empty: the server's
	OwnClient   bool     // for oauth2: no dynamic registration, a client id must be entered
	Note        string   // for admins; optional
	Docs        string   // documentation; optional for the operator's entries
	Source      string   // page with these facts; optional for the operator's entries
	Verified    string   // date, as 2026-11-21; optional for the operator's entries
	Icon        Icon
	Own         bool // the operator's
}

// Draft returns the entry as a new connector. A taken slug gets a number.
func (e Entry) Draft() connectors.Draft { return e.Over(connectors.NewDraft()) }

// Over returns [Entry.Draft] with the settings of d where the entry has none.
func (e Entry) Over(d connectors.Draft) connectors.Draft {
	d.Name, d.Slug, d.Description = e.Name, e.Slug, e.Description
	d.Transport, d.URL = e.Transport, e.URL
	d.Auth = connectors.Auth{Type: e.Auth, Header: e.Header}
	if e.Auth == connectors.AuthOAuth2 {
		d.OAuth.Scopes = slices.Clone(e.Scopes)
	}
	return d
}

// Category is a category of servers.
type Category string

// Categories are all categories in display order.
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

// String returns the category's name.
func (c Category) String() string { return categoryNames[c] }

// Auths are the auth types of entries: those that need only a person's input or consent.
var Auths = []connectors.AuthType{
	connectors.AuthOAuth2, connectors.AuthBearer, connectors.AuthAPIKey, connectors.AuthBasic, connectors.AuthNone,
}
