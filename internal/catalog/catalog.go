package catalog

import (
	_ "embed"
	"slices"
	"strings"

	"patchbay/internal/fault"
)

//go:embed catalog.yaml
var builtin []byte

// Catalog is what there is to choose from, by name. It never changes, and is safe for concurrent use.
type Catalog struct {
	Date    string // of the servers that Patchbay offers by itself: "2026-11-21"
	entries []Entry
}

// Builtin is what Patchbay offers by itself.
func Builtin() (*Catalog, error) {
	f, err := read(builtin, rules{proven: true})
	if err != nil {
		return nil, err
	}
	return arranged(f.date, f.entries), nil
}

// With returns a catalog that also has the operator's own servers, which replace ours of the same slug, and none of those that the
// file hides.
func (c *Catalog) With(document []byte) (*Catalog, error) {
	f, err := read(document, rules{})
	if err != nil {
		return nil, err
	}
	for _, slug := range f.hidden {
		if _, known := c.Entry(slug.text); !known {
			return nil, lineError(slug.line, "hide", "There is no server "+slug.text+" to hide.")
		}
	}
	kept := slices.DeleteFunc(slices.Clone(c.entries), func(e Entry) bool {
		replaced := slices.ContainsFunc(f.entries, func(own Entry) bool { return own.Slug == e.Slug })
		hidden := slices.ContainsFunc(f.hidden, func(s spot) bool { return s.text == e.Slug })
		return replaced || hidden
	})
	for _, own := range f.entries {
		own.Own = true
		kept = append(kept, own)
	}
	return arranged(c.Date, kept), nil
}

func arranged(date string, entries []Entry) *Catalog {
	slices.SortFunc(entries, func(a, b Entry) int {
		if order := strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)); order != 0 {
			return order
		}
		return strings.Compare(a.Slug, b.Slug)
	})
	return &Catalog{Date: date, entries: entries}
}

// Entry finds a server by its slug.
func (c *Catalog) Entry(slug string) (Entry, bool) {
	i := slices.IndexFunc(c.entries, func(e Entry) bool { return e.Slug == slug })
	if i < 0 {
		return Entry{}, false
	}
	return c.entries[i], true
}

// lineError is one thing that is wrong with a file.
func lineError(line int, location, message string) error {
	return wrong{{line, location, message}}.err()
}

// notFound is what is said of a slug that nobody has.
func notFound() error { return fault.Errorf(fault.NotFound, "The catalog has no such server.") }

// Find is [Catalog.Entry] with the sentence for one that is not there.
func (c *Catalog) Find(slug string) (Entry, error) {
	e, ok := c.Entry(slug)
	if !ok {
		return Entry{}, notFound()
	}
	return e, nil
}
