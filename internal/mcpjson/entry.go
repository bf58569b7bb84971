package mcpjson

import (
	"net/url"
	"strings"
	"unicode"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
)

// Entry is one server of a document.
type Entry struct {
	Key      string        // what the document calls it, cut where it is long
	Line     int           // where it stands, from 1
	Slug     string        // of the connector that it is about, unless another one leads to the same URL
	URL      string        // whole; it can hold a secret: show [Entry.Address]
	Problems []fault.Field // why it is refused; locations are within the entry
	Notices  []string      // what was left out or understood in a way that a reader should know

	Secret      connectors.Secret // what authenticates; empty where the document does not hold it
	Placeholder string            // what stands in the secret's place, as it may be shown; empty: nothing does

	Listed   bool   // by an MCP registry: it makes a new connector, or is about one with its URL, and changes none
	Summary  string // of a listed one: what it says of itself. Remote text: show it escaped
	Document []byte // of a listed one: itself, as short as an import needs it

	title    string // a name apart from the key
	settings []func(*connectors.Draft)
	auth     *claim
}

// claim is what an entry says of authentication.
type claim struct {
	auth  connectors.Auth
	oauth connectors.OAuthSettings
	firm  bool // said outright or by a secret, and not only by a placeholder
}

// Draft is the entry as a new connector.
func (e Entry) Draft() connectors.Draft { return e.Over(connectors.NewDraft()) }

// Over is [Entry.Draft] with the settings of another draft, where the entry does not speak of them.
func (e Entry) Over(d connectors.Draft) connectors.Draft {
	d.Name, d.Slug = e.Key, e.Slug
	e.Apply(&d)
	return d
}

// Apply changes a draft to what the entry says, and leaves alone what it does not speak of. A key of a document is no name that
// people gave: a connector that has one keeps it. What a placeholder stands for is what the connector has already.
func (e Entry) Apply(d *connectors.Draft) {
	if e.title != "" {
		d.Name = e.title
	}
	for _, set := range e.settings {
		set(d)
	}
	if e.auth == nil || !e.auth.firm && d.Auth.Type != connectors.AuthNone {
		return
	}
	d.Auth, d.OAuth = e.auth.auth, e.auth.oauth
}

// Address is the URL without what can be secret in it: a user name, a password, a query.
func (e Entry) Address() string { return shownURL(e.URL) }

func (e *Entry) set(change func(*connectors.Draft)) { e.settings = append(e.settings, change) }

func (e *Entry) refuse(location, message string) {
	e.Problems = append(e.Problems, fault.Field{Location: location, Message: message})
}

func (e *Entry) note(sentence string) { e.Notices = append(e.Notices, sentence) }

func shownURL(raw string) string {
	u, err := url.Parse(strings.TrimSpace(raw))
	if err != nil || u.Host == "" {
		return ""
	}
	return short((&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String(), 200)
}

// short is a text that may stand in a sentence or a table: one line, at most n characters, and no other than it looks.
func short(text string, n int) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == unicode.ReplacementChar {
			return -1
		}
		return r
	}, text)
	text = connectors.Visible(text, connectors.Misleads)
	if runes := []rune(text); len(runes) > n {
		return string(runes[:n-1]) + "…"
	}
	return text
}
