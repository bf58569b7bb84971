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

type checkRules struct {
	requireSources bool // each fact needs its source and date, each address https
}

// Bounds of an entry.
const (
	maxSentence = 240 // characters
	maxShown    = 5   // defects in one message
)

type defect struct {
	line     int // 0: the whole file
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

type defectList []defect

// toError returns a fault with the first defects in its message; nil: none.
func (w defectList) toError() error {
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

func checkDocument(doc catalogDocument, index lineIndex, rules checkRules) (catalogFile, error) {
	var w defectList
	switch {
	case doc.Schema == 0:
		w = append(w, defect{index.fields["schema"], "schema", fmt.Sprintf("Add schema: %d.", Schema)})
	case doc.Schema != Schema:
		w = append(w, defect{index.fields["schema"], "schema", fmt.Sprintf("Schema must be %d.", Schema)})
	}
	if !isDate(doc.Date) {
		w = append(w, defect{index.fields["date"], "date", "Add the file's date, as date: 2026-11-21."})
	}
	if len(doc.Servers) > MaxEntries {
		w = append(w, defect{index.fields["servers"], "servers", fmt.Sprintf("At most %d servers.", MaxEntries)})
	}
	f := catalogFile{date: doc.Date}
	seen := map[string]bool{}
	for i, s := range doc.Servers {
		e := s.toEntry()
		for _, field := range s.findDefects(e, seen, rules) {
			w = append(w, defect{findLine(index.servers[i], field.Location), field.Location, field.Message})
		}
		seen[e.Slug] = true
		f.entries = append(f.entries, e)
	}
	for i, slug := range doc.Hide {
		f.hidden = append(f.hidden, lineText{slug, index.hidden[i]})
	}
	return f, w.toError()
}

// findLine returns the line of a field, else of its parent.
func findLine(lines map[string]int, location string) int {
	for location != "" {
		if line, ok := lines[location]; ok {
			return line
		}
		cut := strings.LastIndexByte(location, '.')
		location = location[:max(cut, 0)]
	}
	return lines[""]
}

func (s catalogServer) toEntry() Entry {
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
	e.Icon = Icon{Letters: s.Icon.Letters, Colour: s.Icon.Colour}.withDefaults(e.Name, e.Slug)
	return e
}

// findDefects validates a server as a connector and as a catalog entry.
func (s catalogServer) findDefects(e Entry, seen map[string]bool, rules checkRules) []fault.Field {
	var fields []fault.Field
	refuse := func(location, message string) {
		fields = append(fields, fault.Field{Location: location, Message: message})
	}
	if seen[e.Slug] {
		refuse("slug", "The slug "+e.Slug+" is already in the file.")
	}
	if !slices.Contains(Categories, e.Category) {
		refuse("category", "Choose one of "+joinStrings(Categories)+".")
	}
	if e.Transport == connectors.TransportStdio {
		refuse("transport", "Choose streamable_http, sse, http or api.")
	}
	if !slices.Contains(Auths, e.Auth) {
		refuse("auth.type", "Choose one of "+joinStrings(Auths)+".")
	}
	if len(e.Scopes) > 0 && e.Auth != connectors.AuthOAuth2 || e.OwnClient && e.Auth != connectors.AuthOAuth2 {
		refuse("auth", "Scopes and own_client need oauth2.")
	}
	if e.Description == "" {
		refuse("description", "Describe the server in one sentence.")
	}
	for _, text := range []struct{ location, text string }{{"publisher", e.Publisher}, {"description", e.Description}, {"note", e.Note}} {
		if utf8.RuneCountInString(text.text) > maxSentence || strings.ContainsFunc(text.text, connectors.Misleads) || strings.ContainsAny(text.text, "\r\n\t") {
			refuse(text.location, fmt.Sprintf("One line, at most %d visible characters.", maxSentence))
		}
	}
	if problem := e.Icon.findDefect(); problem != "" {
		refuse("icon", problem)
	}
	fields = append(fields, e.findSourceDefects(rules)...)
	if e.Transport == connectors.TransportStdio || !slices.Contains(Auths, e.Auth) {
		return fields
	}
	return append(fields, e.Draft().Normalized().Validate()...)
}

// findSourceDefects returns missing and invalid links.
func (e Entry) findSourceDefects(rules checkRules) []fault.Field {
	var fields []fault.Field
	for _, link := range []struct{ location, text string }{{"docs", e.Docs}, {"source", e.Source}} {
		if (link.text != "" || rules.requireSources) && !isPage(link.text) {
			fields = append(fields, fault.Field{Location: link.location, Message: "Enter a URL starting with https://."})
		}
	}
	if (e.Verified != "" || rules.requireSources) && !isDate(e.Verified) {
		fields = append(fields, fault.Field{Location: "verified", Message: "Enter a date like 2026-11-21."})
	}
	if rules.requireSources && !strings.HasPrefix(e.URL, "https://") {
		fields = append(fields, fault.Field{Location: "url", Message: "Must start with https://."})
	}
	if rules.requireSources && e.Publisher == "" {
		fields = append(fields, fault.Field{Location: "publisher", Message: "Enter the publisher."})
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

func joinStrings[T ~string](list []T) string {
	words := make([]string, len(list))
	for i, v := range list {
		words[i] = string(v)
	}
	return strings.Join(words, ", ")
}
