package mcpjson

import (
	"fmt"
	"net/url"
	"path"
	"strings"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
)

// Read returns the entries of a document, in its order. An entry that cannot be taken is one of them, with what is wrong; an
// error is about the whole document.
func Read(document []byte) ([]Entry, error) {
	s, err := parse(document)
	if err != nil {
		return nil, err
	}
	found, err := servers(s.whole())
	if err != nil {
		return nil, err
	}
	if len(found) > MaxEntries {
		return nil, fault.Errorf(fault.Invalid, "A document has at most %d servers, and this one has %d. Import it in parts.", MaxEntries, len(found))
	}
	entries := make([]Entry, 0, len(found))
	keys, slugs := map[string]bool{}, map[string]bool{}
	for _, m := range found {
		if l, ok := readListed(m.node); ok && !l.current() {
			continue // another version of it counts
		}
		e := readServer(m)
		e.Line = s.line(m.at)
		if e.Listed && slugs[e.Slug] {
			e.apart()
		}
		switch {
		case keys[e.Key]:
			e.refuse("name", fmt.Sprintf("The document has %q twice. The first one counts.", e.Key))
		case slugs[e.Slug]:
			e.refuse("name", fmt.Sprintf("Another entry of this document has the slug %q, too. Give one of them another name.", e.Slug))
		}
		keys[e.Key], slugs[e.Slug] = true, true
		entries = append(entries, e)
	}
	return entries, nil
}

// apart tells a listed server from another one of the same title, by its whole name.
func (e *Entry) apart() {
	if space, _ := splitName(e.Key); space != "" {
		e.title = short(e.title+" ("+space+")", connectors.MaxName)
	}
	e.Slug = connectors.ConnectorSlug(e.Key, "connector")
}

// named gives an entry its key and slug. One without a name is called by its host or its command.
func (e *Entry) named(key, slug, command string) {
	host := ""
	if u, err := url.Parse(e.URL); err == nil {
		host = u.Hostname()
	}
	key = strings.TrimSpace(key)
	switch {
	case key != "":
	case host != "":
		key = host
	case command != "":
		key = path.Base(strings.ReplaceAll(command, `\`, "/"))
	default:
		e.refuse("name", "A name is needed.")
	}
	if len([]rune(key)) > connectors.MaxName {
		e.refuse("name", fmt.Sprintf("A name has at most %d characters.", connectors.MaxName))
	}
	if strings.ContainsFunc(key, connectors.Misleads) {
		e.refuse("name", connectors.MisleadingName)
	}
	e.Key = short(key, connectors.MaxName)
	e.Slug = strings.TrimSpace(slug)
	if e.Slug == "" {
		e.Slug = connectors.ConnectorSlug(e.Key, connectors.ConnectorSlug(host, "connector"))
	}
	e.Slug = short(e.Slug, connectors.MaxName)
}
