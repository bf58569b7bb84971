package agentview

import (
	"crypto/sha256"
	"encoding/base64"
	"slices"
	"strconv"
	"sync"

	"patchbay/internal/connectors"
)

// Kind is one of MCP's lists.
type Kind int

// The lists.
const (
	Tools Kind = iota
	Prompts
	Resources
	Templates
	kindCount
)

// resultMember is the name of the list's array in a result.
func (k Kind) resultMember() string {
	return [...]string{"tools", "prompts", "resources", "resourceTemplates"}[k]
}

// itemKind returns the kind of the entries of a list other than that of tools.
func (k Kind) itemKind() connectors.ItemKind {
	switch k {
	case Prompts:
		return connectors.ItemPrompt
	case Resources:
		return connectors.ItemResource
	default:
		return connectors.ItemTemplate
	}
}

// modernMembers are the additional result members of revision 2026-07-28: complete, no caching, private to the
// agent.
const modernMembers = `"resultType":"complete","ttlMs":0,"cacheScope":"private",`

// pageBytes is the size at which a list page ends. It suits clients that read at most 8 MiB.
const pageBytes = 4 << 20

// listHash identifies a list by its content.
type listHash [sha256.Size]byte

// listEntry is one element of a served list.
type listEntry struct {
	raw        []byte
	values     []byteRange // ranges to replace by name
	name       string
	links      []uiLink           // in raw
	slug       string             // to expose links; empty: they stay
	legacy     *definitionVariant // for clients of the revisions before 2026-07-28; nil: raw
	legacyOnly bool

	offersTasks bool // legacy says that calls can be tasks
}

// appendJSON appends the entry as modern or legacy clients get it.
func (e *listEntry) appendJSON(to []byte, modern bool) []byte {
	if modern || e.legacy == nil {
		return appendExposed(to, e.raw, e.values, e.name, e.links, e.slug)
	}
	names := e.legacy.names
	if e.values == nil {
		names = nil
	}
	return appendExposed(to, e.legacy.raw, names, e.name, e.legacy.links, e.slug)
}

// servedList is a rendered list result. It is immutable.
type servedList struct {
	kind          Kind
	hash          listHash
	legacy        [][]byte       // pages
	entries       [][]byte       // each entry's bytes within the legacy pages
	inModern      []bool         // whether modern clients see the entry
	modernEntries map[int][]byte // entries that differ for modern clients, by index
	size          int64          // bytes of legacy and modernEntries

	once   sync.Once
	modern [][]byte // rendered by once
}

func newServedList(kind Kind, p listHash, entries []listEntry) *servedList {
	l := &servedList{kind: kind, hash: p, inModern: make([]bool, len(entries))}
	for i, e := range entries {
		l.inModern[i] = !e.legacyOnly
		if e.legacy != nil {
			if l.modernEntries == nil {
				l.modernEntries = map[int][]byte{}
			}
			l.modernEntries[i] = e.appendJSON(nil, true)
			l.size += int64(len(l.modernEntries[i]))
		}
	}
	l.legacy, l.entries = l.renderPages("", len(entries), func(to []byte, i int) []byte { return entries[i].appendJSON(to, false) })
	for _, page := range l.legacy {
		l.size += int64(len(page))
	}
	return l
}

// pagesFor returns the pages for modern or legacy clients.
func (l *servedList) pagesFor(modern bool) [][]byte {
	if !modern {
		return l.legacy
	}
	l.once.Do(func() {
		var visible [][]byte
		for i, raw := range l.entries {
			if other, ok := l.modernEntries[i]; ok {
				raw = other
			}
			if l.inModern[i] {
				visible = append(visible, raw)
			}
		}
		l.modern, _ = l.renderPages(modernMembers, len(visible), func(to []byte, i int) []byte { return append(to, visible[i]...) })
	})
	return l.modern
}

// renderPages writes n entries into pages of about pageBytes, and returns each entry's bytes within them.
func (l *servedList) renderPages(members string, n int, write func(to []byte, i int) []byte) (pages, entries [][]byte) {
	head := "{" + members + `"` + l.kind.resultMember() + `":[`
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
			page = append(page, `,"nextCursor":"`+l.pageCursor(len(pages)+1)+`"`...)
		}
		page = slices.Clip(append(page, '}'))
		pos := len(head)
		for _, end := range ends {
			entries = append(entries, page[pos:end:end])
			pos = end + 1
		}
		if pages = append(pages, page); first >= n {
			return pages, entries
		}
	}
}

// pageCursor returns a cursor that is valid for this list only: after a change a client starts again.
func (l *servedList) pageCursor(page int) string {
	return base64.RawURLEncoding.EncodeToString(l.hash[:9]) + "." + strconv.Itoa(page)
}

// findPage returns the page of a cursor; nil if the cursor is not of this list.
func (l *servedList) findPage(modern bool, cursor string) []byte {
	pages := l.pagesFor(modern)
	if cursor == "" {
		return pages[0]
	}
	for i := 1; i < len(pages); i++ {
		if cursor == l.pageCursor(i) {
			return pages[i]
		}
	}
	return nil
}

// lazyList is a list that is rendered on first use.
type lazyList struct {
	once sync.Once
	list *servedList
}

// ListResult returns the rendered first page of a list over all connectors.
func (v *View) ListResult(k Kind, modern bool) []byte { return v.lists[k].findPage(modern, "") }

// ListPage returns the page of a cursor; nil if the cursor is not of the current list.
func (v *View) ListPage(k Kind, modern bool, cursor string) []byte {
	return v.lists[k].findPage(modern, cursor)
}

// ListResult returns the rendered first page of this connector's own list.
func (connector *ConnectorView) ListResult(k Kind, modern bool) []byte {
	return connector.ListPage(k, modern, "")
}

// ListPage returns the page of a cursor; nil if the cursor is not of the current list.
func (connector *ConnectorView) ListPage(k Kind, modern bool, cursor string) []byte {
	return connector.ownList(k).findPage(modern, cursor)
}

func (connector *ConnectorView) ownList(k Kind) *servedList {
	own := &connector.ownLists[k]
	own.once.Do(func() { own.list = connector.renderList(k) })
	return own.list
}

// internList returns the list with these entries, rendered or shared with another agent.
func (c *Cache) internList(kind Kind, entries []listEntry) *servedList {
	p := hashEntries(kind, entries)
	if l := c.lists.get(p); l != nil {
		return l
	}
	return c.lists.put(p, newServedList(kind, p, entries))
}
