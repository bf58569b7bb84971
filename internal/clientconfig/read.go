package clientconfig

import (
	"fmt"
	"net/url"
	"strings"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
)

// Read returns the entries of a document in order. An invalid entry has its problems; an error is about the
// whole document.
func Read(document []byte) ([]Entry, error) {
	s, err := parseSource(document)
	if err != nil {
		return nil, err
	}
	found, err := findServers(s.root())
	if err != nil {
		return nil, err
	}
	if len(found) > MaxEntries {
		return nil, fault.Errorf(fault.Invalid, "At most %d servers per import; this has %d. Split it.", MaxEntries, len(found))
	}
	entries := make([]Entry, 0, len(found))
	isExcluded := excludedByGemini(s.root())
	keys, slugs := map[string]bool{}, map[string]bool{}
	for _, m := range found {
		if l, ok := readListed(m.node); ok && !l.isCurrent() {
			continue // another version is current
		}
		e := readServer(m)
		e.Line = s.line(m.offset)
		if isExcluded(m.name) {
			e.addSetting(func(d *connectors.Draft) { d.Enabled = false })
			e.addNotice("Excluded by mcp.allowed or mcp.excluded, so it's disabled.")
		}
		if e.Listed && slugs[e.Slug] {
			e.useFullName()
		}
		switch {
		case keys[e.Key]:
			e.addProblem("name", fmt.Sprintf("Duplicate %q: only the first one is used.", e.Key))
		case slugs[e.Slug]:
			e.addProblem("name", fmt.Sprintf("Another entry has the slug %q too. Rename one.", e.Slug))
		}
		keys[e.Key], slugs[e.Slug] = true, true
		entries = append(entries, e)
	}
	return entries, nil
}

// useFullName names a listed server by its full name, as another one has the same title.
func (e *Entry) useFullName() {
	if space, _ := splitName(e.Key); space != "" {
		e.title = shorten(e.title+" ("+space+")", connectors.MaxName)
	}
	e.Slug = connectors.ConnectorSlug(e.Key, "connector")
}

// namePath returns a path for a name, without segments over 16 characters: agents read names, and some servers put a key into
// their path.
func namePath(path string) string {
	var name strings.Builder
	for _, segment := range strings.Split(path, "/") {
		if segment != "" && len(segment) <= 16 {
			name.WriteString("/" + segment)
		}
	}
	return name.String()
}

// setName sets key and slug. A server without a name is named after its host, port and path, or its program.
func (e *Entry) setName(key, slug, program string) {
	host, address := "", ""
	if u, err := url.Parse(e.URL); err == nil {
		host, address = u.Hostname(), u.Host+namePath(u.Path)
	}
	key = strings.TrimSpace(key)
	e.Unnamed = key == ""
	switch {
	case key != "":
	case host != "":
		key = shorten(address, connectors.MaxName)
	case program != "":
		key = shorten(program, connectors.MaxName)
	default:
		e.addProblem("name", "Enter a name.")
	}
	if len([]rune(key)) > connectors.MaxName {
		e.addProblem("name", fmt.Sprintf("At most %d characters.", connectors.MaxName))
	}
	if strings.ContainsFunc(key, connectors.Misleads) {
		e.addProblem("name", connectors.MisleadingName)
	}
	e.Key = shorten(key, connectors.MaxName)
	e.Slug = strings.TrimSpace(slug)
	if e.Slug == "" {
		e.Slug = connectors.ConnectorSlug(e.Key, connectors.ConnectorSlug(host, "connector"))
	}
	e.Slug = shorten(e.Slug, connectors.MaxName)
}
