package catalog

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
)

// rules are what is asked of a file beyond its form.
type rules struct {
	proven bool // every fact needs its page and its day, and every address https
}

// Bounds of what an entry says.
const (
	maxSentence = 240 // characters
	maxShown    = 5   // defects that a message names
)

// defect is one thing that is wrong: where, and what to do about it.
type defect struct {
	line     int // 0: it is about the whole file
	location string
	message  string
}

func (d defect) String() string {
	text := d.message
	if d.location != "" {
		text = d.location + ": " + text
	}
	if d.line > 0 {
		text = fmt.Sprintf("line %d: %s", d.line, text)
	}
	return text
}

// wrong gathers what is wrong with a file.
type wrong []defect

// err is one fault that names the first defects; nil where there are none.
func (w wrong) err() error {
	if len(w) == 0 {
		return nil
	}
	var said []string
	fields := make([]fault.Field, 0, len(w))
	for i, d := range w {
		fields = append(fields, fault.Field{Location: d.location, Message: d.message})
		if i < maxShown {
			said = append(said, d.String())
		}
	}
	if more := len(w) - maxShown; more > 0 {
		said = append(said, fmt.Sprintf("and %d more", more))
	}
	return &fault.Error{Kind: fault.Invalid, Message: strings.Join(said, "\n"), Fields: fields}
}

// check makes entries of a document.
func check(doc document, at lines, rules rules) (file, error) {
	var w wrong
	switch {
	case doc.Schema == 0:
		w = append(w, defect{at.fields["schema"], "schema", fmt.Sprintf("Say which form the file has: schema: %d.", Schema)})
	case doc.Schema != Schema:
		w = append(w, defect{at.fields["schema"], "schema", fmt.Sprintf("This program reads schema %d.", Schema)})
	}
	if !isDate(doc.Date) {
		w = append(w, defect{at.fields["date"], "date", "Say of which day the file is, as date: 2026-11-21."})
	}
	if len(doc.Servers) > MaxEntries {
		w = append(w, defect{at.fields["servers"], "servers", fmt.Sprintf("A catalog has at most %d servers.", MaxEntries)})
	}
	f := file{date: doc.Date}
	seen := map[string]bool{}
	for i, s := range doc.Servers {
		e := s.entry()
		for _, field := range s.defects(e, seen, rules) {
			w = append(w, defect{lineOf(at.servers[i], field.Location), field.Location, field.Message})
		}
		seen[e.Slug] = true
		f.entries = append(f.entries, e)
	}
	for i, slug := range doc.Hide {
		f.hidden = append(f.hidden, spot{slug, at.hidden[i]})
	}
	return f, w.err()
}

// lineOf is the line of a field, else of what is around it.
func lineOf(at map[string]int, location string) int {
	for location != "" {
		if line, ok := at[location]; ok {
			return line
		}
		cut := strings.LastIndexByte(location, '.')
		location = location[:max(cut, 0)]
	}
	return at[""]
}

func (s server) entry() Entry {
	e := Entry{
		Name: strings.TrimSpace(s.Name), Slug: s.Slug, Publisher: strings.TrimSpace(s.Publisher), Category: Category(s.Category),
		Description: strings.TrimSpace(s.Description), URL: strings.TrimSpace(s.URL), Transport: connectors.Transport(s.Transport),
		Auth: connectors.AuthType(s.Auth.Type), Header: s.Auth.Header, Scopes: s.Auth.Scopes, OwnClient: s.Auth.OwnClient,
		Note: strings.TrimSpace(s.Note), Docs: s.Docs, Source: s.Source, Verified: s.Verified,
	}
	if e.Slug == "" {
		e.Slug = connectors.ConnectorSlug(e.Name, "server")
	}
	if e.Transport == "" {
		e.Transport = connectors.TransportStreamableHTTP
	}
	e.Icon = Icon{Letters: s.Icon.Letters, Colour: s.Icon.Colour}.complete(e.Name, e.Slug)
	return e
}

// defects tells what is wrong with a server: as a connector, and as an entry of the catalog.
func (s server) defects(e Entry, seen map[string]bool, rules rules) []fault.Field {
	var fields []fault.Field
	refuse := func(location, message string) {
		fields = append(fields, fault.Field{Location: location, Message: message})
	}
	if seen[e.Slug] {
		refuse("slug", "Another server of the file has the slug "+e.Slug+".")
	}
	if !slices.Contains(Categories, e.Category) {
		refuse("category", "Choose one of "+joined(Categories)+".")
	}
	if e.Transport == connectors.TransportStdio {
		refuse("transport", "A catalog has remote servers: choose streamable_http, sse or http.")
	}
	if !slices.Contains(Auths, e.Auth) {
		refuse("auth.type", "Choose one of "+joined(Auths)+".")
	}
	if len(e.Scopes) > 0 && e.Auth != connectors.AuthOAuth2 || e.OwnClient && e.Auth != connectors.AuthOAuth2 {
		refuse("auth", "Scopes and own_client belong to oauth2.")
	}
	if e.Description == "" {
		refuse("description", "Say in one sentence what the server is for.")
	}
	for _, text := range []struct{ location, text string }{{"publisher", e.Publisher}, {"description", e.Description}, {"note", e.Note}} {
		if utf8.RuneCountInString(text.text) > maxSentence || strings.ContainsFunc(text.text, connectors.Misleads) || strings.ContainsAny(text.text, "\r\n\t") {
			refuse(text.location, fmt.Sprintf("This is one line of at most %d characters that everybody can see.", maxSentence))
		}
	}
	if problem := e.Icon.defect(); problem != "" {
		refuse("icon", problem)
	}
	fields = append(fields, e.unproven(rules)...)
	if e.Transport == connectors.TransportStdio || !slices.Contains(Auths, e.Auth) {
		return fields
	}
	return append(fields, e.Draft().Normalized().Validate()...)
}

// unproven tells which links an entry lacks, and which lead nowhere.
func (e Entry) unproven(rules rules) []fault.Field {
	var fields []fault.Field
	for _, link := range []struct{ location, text string }{{"docs", e.Docs}, {"source", e.Source}} {
		if (link.text != "" || rules.proven) && !isPage(link.text) {
			fields = append(fields, fault.Field{Location: link.location, Message: "This is the address of a page, and begins with https://."})
		}
	}
	if (e.Verified != "" || rules.proven) && !isDate(e.Verified) {
		fields = append(fields, fault.Field{Location: "verified", Message: "This is a day, as 2026-11-21."})
	}
	if rules.proven && !strings.HasPrefix(e.URL, "https://") {
		fields = append(fields, fault.Field{Location: "url", Message: "This begins with https://."})
	}
	if rules.proven && e.Publisher == "" {
		fields = append(fields, fault.Field{Location: "publisher", Message: "Say who runs the server."})
	}
	return fields
}

func isPage(text string) bool {
	u, err := url.Parse(text)
	return err == nil && u.Scheme == "https" && u.Hostname() != "" && u.User == nil && !strings.ContainsAny(text, " <>\"'")
}

func isDate(text string) bool {
	_, err := time.Parse(time.DateOnly, text)
	return err == nil
}

func joined[T ~string](list []T) string {
	words := make([]string, len(list))
	for i, v := range list {
		words[i] = string(v)
	}
	return strings.Join(words, ", ")
}
