package clientconfig

import (
	"net/url"
	"strings"
	"unicode"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
)

// Entry is one server of a document.
type Entry struct {
	Key      string        // the name in the document, truncated
	Line     int           // from 1
	Slug     string        // of the new connector; an existing one with the same URL keeps its own
	URL      string        // may contain a secret: show [Entry.Address]
	Problems []fault.Field // why it is refused, with locations in the entry
	Notices  []string      // what was ignored or assumed

	Secret      connectors.Secret // empty if the document has none
	Placeholder string            // the name of the missing secret, safe to show; empty: none is missing

	API *API // nil: an MCP server

	Unnamed  bool   // named after its address or program: it never changes a connector with another address
	Listed   bool   // by an MCP registry: it never changes an existing connector
	Summary  string // of a listed one: its description, remote text
	Document []byte // of a listed one: its JSON, reduced to what an import needs

	title    string // the display name, if not the key
	settings []func(*connectors.Draft)
	auth     *authClaim
}

type authClaim struct {
	auth   connectors.Auth
	oauth  connectors.OAuthSettings
	isFirm bool // stated or with a secret, not by a placeholder alone
}

// Draft returns the entry as a new connector.
func (e Entry) Draft() connectors.Draft { return e.Over(connectors.NewDraft()) }

// Over returns [Entry.Draft] with the settings of d where the entry states none.
func (e Entry) Over(d connectors.Draft) connectors.Draft {
	d.Name, d.Slug = e.Key, e.Slug
	e.Apply(&d)
	return d
}

// Apply changes a draft to what the entry states. A connector keeps its name unless the entry has a title, and
// its authentication where the entry has only a placeholder.
func (e Entry) Apply(d *connectors.Draft) {
	if e.title != "" {
		d.Name = e.title
	}
	for _, set := range e.settings {
		set(d)
	}
	if e.auth == nil || !e.auth.isFirm && d.Auth.Type != connectors.AuthNone {
		return
	}
	d.Auth, d.OAuth = e.auth.auth, e.auth.oauth
}

// Address is the URL without user name, password and query, which may be secret.
func (e Entry) Address() string { return displayURL(e.URL) }

func (e *Entry) addSetting(change func(*connectors.Draft)) { e.settings = append(e.settings, change) }

func (e *Entry) addProblem(location, message string) {
	e.Problems = append(e.Problems, fault.Field{Location: location, Message: message})
}

func (e *Entry) addNotice(sentence string) { e.Notices = append(e.Notices, sentence) }

func displayURL(raw string) string {
	u, err := url.Parse(strings.TrimSpace(raw))
	if err != nil || u.Host == "" {
		return ""
	}
	return shorten((&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String(), 200)
}

// shorten makes text safe for a sentence or a table: one line, at most n characters, misleading characters
// escaped.
func shorten(text string, n int) string {
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
