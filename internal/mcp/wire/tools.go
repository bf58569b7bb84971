package wire

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	maxNameLength   = 128
	maxBrokenLength = 64 << 10
)

// Entry is one entry of a tool list.
type Entry struct {
	Raw    []byte  // as it came; of an entry that is no JSON, its text as a JSON string
	Name   *string // nil: it has no readable one
	Defect string  // why it is no usable tool, a sentence in our words; empty: it is one
}

// Page is the result of tools/list.
type Page struct {
	Entries []Entry
	Next    *string // the next page's cursor; nil: there is none
	Defect  string  // why it is no such result, in our words; empty: it is one
	Kind    string  // its resultType; empty: none
	TTL     int64   // its ttlMs: for how many milliseconds it may be taken for fresh
	Scope   string  // its cacheScope; empty: none
	Size    int     // bytes of the text that the entries are slices of, and keep in memory
}

// page reads a result as one of tools/list.
func (s *scanner) page() (*Page, error) {
	if s.peek() != '{' {
		return &Page{Size: len(s.data), Defect: "sent a tool list that is not an object"}, s.value()
	}
	page := &Page{Size: len(s.data)}
	listed, cursor := false, true
	err := s.object(func(key []byte) error {
		switch string(key) {
		case "tools":
			return s.tools(page, &listed)
		case "nextCursor":
			return s.cursor(page, &cursor)
		case "resultType":
			return s.text(&page.Kind)
		case "cacheScope":
			return s.text(&page.Scope)
		case "ttlMs":
			return s.integer(&page.TTL)
		}
		return s.value()
	})
	switch {
	case !listed:
		page.Defect = "sent a tool list without tools"
	case !cursor:
		page.Defect = "sent a cursor that is not a string"
	}
	return page, err
}

// tools reads the array of tools. null is an empty one: some servers write an empty list so.
func (s *scanner) tools(page *Page, listed *bool) error {
	page.Entries = nil
	switch s.peek() {
	case '[':
		*listed = true
		return s.array(func() error { return s.entry(page) })
	case 'n':
		*listed = true
	default:
		*listed = false
	}
	return s.value()
}

func (s *scanner) cursor(page *Page, readable *bool) error {
	page.Next, *readable = nil, true
	switch s.peek() {
	case '"':
		raw, err := s.str()
		if err != nil {
			return err
		}
		var text string
		text, *readable = unquote(raw)
		page.Next = &text
		return nil
	case 'n', 'f': // null, and what PHP says in its place
	default:
		*readable = false
	}
	return s.value()
}

// text reads a value and keeps it where it is a string.
func (s *scanner) text(into *string) error {
	s.peek()
	start := s.pos
	err := s.value()
	if err == nil && s.data[start] == '"' {
		*into = string(keyOf(s.data[start:s.pos]))
	}
	return err
}

// integer reads a value and keeps it where it is one that is not negative.
func (s *scanner) integer(into *int64) error {
	s.peek()
	start := s.pos
	err := s.value()
	if n, bad := strconv.ParseInt(string(s.data[start:s.pos]), 10, 64); bad == nil && n > 0 {
		*into = n
	}
	return err
}

// entry reads one entry. A broken one is stepped over where its end can be told.
func (s *scanner) entry(page *Page) error {
	s.peek()
	start, depth := s.pos, s.depth
	entry, err := s.tool()
	if err != nil {
		if !s.skipBroken(start) {
			return err
		}
		s.depth = depth
		entry = Entry{Defect: brokenReason(err)}
	}
	entry.Raw = s.data[start:s.pos:s.pos]
	if err != nil {
		if len(entry.Raw) == 0 { // a comma too many
			return nil
		}
		entry.Raw = quoted(entry.Raw)
	}
	page.Entries = append(page.Entries, entry)
	return nil
}

// quoted is text as a JSON string, cut where it is long: whoever shows a broken entry must not be broken by it.
func quoted(text []byte) []byte {
	text = text[:min(len(text), maxBrokenLength)]
	raw, _ := json.Marshal(string(text)) // strings always marshal; invalid UTF-8 becomes U+FFFD
	return raw
}

func brokenReason(err error) string {
	switch {
	case errors.Is(err, ErrDepth):
		return "The entry is nested too deeply."
	case errors.Is(err, ErrUTF8):
		return "The entry is not valid UTF-8."
	}
	return "The entry is not valid JSON."
}

// tool reads one entry and judges it.
func (s *scanner) tool() (Entry, error) {
	c := checker{scanner: s}
	if err := c.item(ToolItem); err != nil {
		return Entry{}, err
	}
	return c.toolEntry(), nil
}

// toolEntry is the tool that was read. What is wrong with its name comes before all other defects.
func (c *checker) toolEntry() Entry {
	if c.defect == notAnObject {
		return Entry{Defect: c.defect}
	}
	entry := judgeName(c.name)
	if entry.Defect == "" {
		entry.Defect = c.defect
	}
	return entry
}

// judgeName reads a tool's name; raw is empty where the tool has none.
func judgeName(raw []byte) Entry {
	if len(raw) == 0 {
		return Entry{Defect: "The tool has no name."}
	}
	if raw[0] != '"' {
		return Entry{Defect: "The tool's name is not a string."}
	}
	name := string(keyOf(raw))
	switch length := utf8.RuneCountInString(name); {
	case length == 0:
		return Entry{Defect: "The tool's name is empty."}
	case strings.ContainsRune(name, 0):
		return Entry{Defect: "The tool's name holds a NUL character."}
	case halved(raw):
		return Entry{Defect: "The tool's name is not valid Unicode."}
	case length > maxNameLength:
		return Entry{Defect: "The tool's name is longer than 128 characters.", Name: shortened(name)}
	}
	return Entry{Name: &name}
}

// shortened keeps the beginning of a name that is too long, to recognise it by.
func shortened(name string) *string {
	short := string([]rune(name)[:maxNameLength])
	return &short
}
