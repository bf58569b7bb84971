package access

import (
	"crypto/sha256"
	"encoding/base64"
	"slices"
	"strconv"
	"sync"

	"patchbay/internal/connectors"
)

// Kind is a list that a client may ask for.
type Kind int

// The lists.
const (
	Tools Kind = iota
	Prompts
	Resources
	Templates
	kinds
)

// member is the list's name in a result.
func (k Kind) member() string {
	return [...]string{"tools", "prompts", "resources", "resourceTemplates"}[k]
}

// kindOf is the list on which an item stands.
func kindOf(k connectors.ItemKind) Kind {
	switch k {
	case connectors.ItemPrompt:
		return Prompts
	case connectors.ItemResource:
		return Resources
	default:
		return Templates
	}
}

// What a modern result says besides: it is all, it may change at any time, and it is for this agent alone.
const modernSays = `"resultType":"complete","ttlMs":0,"cacheScope":"private",`

// pageBytes is where a page of a list ends. A client that reads at most 8 MiB gets it all.
const pageBytes = 4 << 20

// imprint identifies a list by what stands on it.
type imprint [sha256.Size]byte

// entry is one member of a list, as it is served.
type entry struct {
	raw        []byte
	values     []span // to be renamed
	name       string // their new value
	legacy     *form  // for clients of the revisions before 2026-07-28; nil: raw
	legacyOnly bool
}

// write appends the entry as an era of clients gets it.
func (e *entry) write(to []byte, modern bool) []byte {
	if modern || e.legacy == nil {
		return renamed(to, e.raw, e.values, e.name)
	}
	if e.values == nil {
		return append(to, e.legacy.raw...)
	}
	return renamed(to, e.legacy.raw, e.legacy.names, e.name)
}

// list is a list result, ready to be sent. It never changes.
type list struct {
	kind    Kind
	imprint imprint
	legacy  [][]byte       // its pages
	served  [][]byte       // each entry, within them
	keep    []bool         // which entries a modern client sees, too
	other   map[int][]byte // entries that a modern client gets otherwise than they are served
	size    int64          // of legacy and other

	once   sync.Once
	modern [][]byte // made by once
}

// newList renders the entries.
func newList(kind Kind, p imprint, entries []entry) *list {
	l := &list{kind: kind, imprint: p, keep: make([]bool, len(entries))}
	for i, e := range entries {
		l.keep[i] = !e.legacyOnly
		if e.legacy != nil {
			if l.other == nil {
				l.other = map[int][]byte{}
			}
			l.other[i] = e.write(nil, true)
			l.size += int64(len(l.other[i]))
		}
	}
	l.legacy, l.served = l.render("", len(entries), func(to []byte, i int) []byte { return entries[i].write(to, false) })
	for _, page := range l.legacy {
		l.size += int64(len(page))
	}
	return l
}

// pages are the list as an era of clients wants it.
func (l *list) pages(modern bool) [][]byte {
	if !modern {
		return l.legacy
	}
	l.once.Do(func() {
		var seen [][]byte
		for i, raw := range l.served {
			if other, there := l.other[i]; there {
				raw = other
			}
			if l.keep[i] {
				seen = append(seen, raw)
			}
		}
		l.modern, _ = l.render(modernSays, len(seen), func(to []byte, i int) []byte { return append(to, seen[i]...) })
	})
	return l.modern
}

// render writes n entries into as many pages as they need, and tells where each entry stands in them.
func (l *list) render(says string, n int, write func(to []byte, i int) []byte) (pages, entries [][]byte) {
	head := "{" + says + `"` + l.kind.member() + `":[`
	for first := 0; ; {
		page, ends := []byte(head), []int{}
		for i := first; i < n && (i == first || len(page) < pageBytes); i++ {
			if i > first {
				page = append(page, ',')
			}
			page = write(page, i)
			ends = append(ends, len(page))
		}
		first += len(ends)
		page = append(page, ']')
		if first < n {
			page = append(page, `,"nextCursor":"`+l.cursor(len(pages)+1)+`"`...)
		}
		page = slices.Clip(append(page, '}'))
		at := len(head)
		for _, end := range ends {
			entries = append(entries, page[at:end:end])
			at = end + 1
		}
		if pages = append(pages, page); first >= n {
			return pages, entries
		}
	}
}

// cursor names a page of this list, and of no other: where the list has changed meanwhile, a client begins again.
func (l *list) cursor(page int) string {
	return base64.RawURLEncoding.EncodeToString(l.imprint[:9]) + "." + strconv.Itoa(page)
}

// page finds a page by its cursor; nil: it is none of this list's.
func (l *list) page(modern bool, cursor string) []byte {
	pages := l.pages(modern)
	if cursor == "" {
		return pages[0]
	}
	for i := 1; i < len(pages); i++ {
		if cursor == l.cursor(i) {
			return pages[i]
		}
	}
	return nil
}

// lazyList is a list that is rendered when somebody asks for it.
type lazyList struct {
	once sync.Once
	list *list
}

// ListResult is the first page of a list of all connectors, ready to be sent.
func (v *View) ListResult(k Kind, modern bool) []byte { return v.lists[k].page(modern, "") }

// ListPage is the page of a list that a cursor names; nil: the cursor is none of this list, as it now is.
func (v *View) ListPage(k Kind, modern bool, cursor string) []byte {
	return v.lists[k].page(modern, cursor)
}

// ListResult is the first page of a list of this connector alone, as its server said it.
func (r *Reach) ListResult(k Kind, modern bool) []byte { return r.ListPage(k, modern, "") }

// ListPage is the page of such a list that a cursor names; nil: the cursor is none of this list, as it now is.
func (r *Reach) ListPage(k Kind, modern bool, cursor string) []byte {
	return r.list(k).page(modern, cursor)
}

func (r *Reach) list(k Kind) *list {
	own := &r.own[k]
	own.once.Do(func() { own.list = r.render(k) })
	return own.list
}

// list makes a list, or finds it with another agent that has the same.
func (k *Keeper) list(kind Kind, entries []entry) *list {
	p := printOf(kind, entries)
	if l := k.lists.get(p); l != nil {
		return l
	}
	return k.lists.put(p, newList(kind, p, entries))
}
