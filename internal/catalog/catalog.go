package catalog

import (
	_ "embed"
	"slices"
	"strings"
	"sync"

	"patchbay/internal/fault"
)

//go:embed catalog.yaml
var builtinYAML []byte

// Catalog is a list of servers by name. It is immutable and safe for concurrent use.
type Catalog struct {
	Date    string // of the built-in servers: "2026-11-21"
	entries []Entry
	icons   map[string]Icon // by urlKey
}

// Builtin returns the built-in catalog, which is read once.
func Builtin() (*Catalog, error) { return builtin() }

var builtin = sync.OnceValues(func() (*Catalog, error) {
	f, err := readFile(builtinYAML, checkRules{requireSources: true})
	if err != nil {
		return nil, err
	}
	return newCatalog(f.date, f.entries), nil
})

// With returns a catalog with the operator's servers, which replace built-in ones of the same slug, and without
// those that the file hides.
func (c *Catalog) With(document []byte) (*Catalog, error) {
	f, err := readFile(document, checkRules{})
	if err != nil {
		return nil, err
	}
	for _, slug := range f.hidden {
		if _, known := c.Entry(slug.text); !known {
			return nil, newLineError(slug.line, "hide", "No server "+slug.text+" to hide.")
		}
	}
	kept := slices.DeleteFunc(slices.Clone(c.entries), func(e Entry) bool {
		replaced := slices.ContainsFunc(f.entries, func(own Entry) bool { return own.Slug == e.Slug })
		hidden := slices.ContainsFunc(f.hidden, func(s lineText) bool { return s.text == e.Slug })
		return replaced || hidden
	})
	for _, own := range f.entries {
		own.Own = true
		kept = append(kept, own)
	}
	return newCatalog(c.Date, kept), nil
}

func newCatalog(date string, entries []Entry) *Catalog {
	slices.SortFunc(entries, func(a, b Entry) int {
		if order := strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)); order != 0 {
			return order
		}
		return strings.Compare(a.Slug, b.Slug)
	})
	icons := make(map[string]Icon, len(entries))
	for _, e := range entries {
		icons[urlKey(e.URL)] = e.Icon
	}
	return &Catalog{Date: date, entries: entries, icons: icons}
}

// IconAt returns the icon of the server at a URL. Case, query and a trailing slash are ignored.
func (c *Catalog) IconAt(url string) (Icon, bool) {
	icon, ok := c.icons[urlKey(url)]
	return icon, ok
}

func urlKey(url string) string {
	place, _, _ := strings.Cut(url, "?")
	return strings.ToLower(strings.TrimRight(place, "/"))
}

// Entry returns a server by its slug.
func (c *Catalog) Entry(slug string) (Entry, bool) {
	i := slices.IndexFunc(c.entries, func(e Entry) bool { return e.Slug == slug })
	if i < 0 {
		return Entry{}, false
	}
	return c.entries[i], true
}

func newLineError(line int, location, message string) error {
	return defectList{{line, location, message}}.toError()
}

func notFoundError() error { return fault.Errorf(fault.NotFound, "Not in the catalog.") }

// Find is [Catalog.Entry] with an error.
func (c *Catalog) Find(slug string) (Entry, error) {
	e, ok := c.Entry(slug)
	if !ok {
		return Entry{}, notFoundError()
	}
	return e, nil
}
