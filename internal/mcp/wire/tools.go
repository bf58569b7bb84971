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
	Raw    []byte  // as sent, but for the name inputSchema in place of an alias; invalid JSON as a JSON string
	Name   *string // nil: none that is readable
	Defect string  // why it is not a usable tool, as a sentence; empty: it is
}

// Page is the result of tools/list.
type Page struct {
	Entries []Entry
	Next    *string // cursor of the next page; nil: last page
	Defect  string  // why it is not a list result; empty: it is
	Kind    string  // resultType; empty: none
	TTL     int64   // ttlMs, in milliseconds
	Scope   string  // cacheScope; empty: none
	Size    int     // bytes of the text that the entries keep in memory
}

// readPage reads the result of tools/list.
func (s *scanner) readPage() (*Page, error) {
	if s.peek() != '{' {
		return &Page{Size: len(s.data), Defect: "sent a non-object tool list"}, s.skipValue()
	}
	page := &Page{Size: len(s.data)}
	listed, cursor := false, true
	err := s.readObject(func(key []byte) error {
		switch string(key) {
		case "tools":
			return s.readTools(page, &listed)
		case "nextCursor":
			return s.readCursor(page, &cursor)
		case "resultType":
			return s.readText(&page.Kind)
		case "cacheScope":
			return s.readText(&page.Scope)
		case "ttlMs":
			return s.readInteger(&page.TTL)
		}
		return s.skipValue()
	})
	switch {
	case !listed:
		page.Defect = "sent a tool list without tools"
	case !cursor:
		page.Defect = "sent a non-string cursor"
	}
	return page, err
}

// readTools reads the array of tools. Some servers send null for an empty list.
func (s *scanner) readTools(page *Page, listed *bool) error {
	page.Entries = nil
	switch s.peek() {
	case '[':
		*listed = true
		return s.readArray(func() error { return s.readEntry(page) })
	case 'n':
		*listed = true
	default:
		*listed = false
	}
	return s.skipValue()
}

func (s *scanner) readCursor(page *Page, readable *bool) error {
	page.Next, *readable = nil, true
	switch s.peek() {
	case '"':
		raw, err := s.readString()
		if err != nil {
			return err
		}
		var text string
		text, *readable = unquoteString(raw)
		page.Next = &text
		return nil
	case 'n', 'f': // null, or false from PHP
	default:
		*readable = false
	}
	return s.skipValue()
}

// readText reads a value and stores a string.
func (s *scanner) readText(into *string) error {
	s.peek()
	start := s.pos
	err := s.skipValue()
	if err == nil && s.data[start] == '"' {
		*into = string(unquoteKey(s.data[start:s.pos]))
	}
	return err
}

// readInteger reads a value and stores a positive integer.
func (s *scanner) readInteger(into *int64) error {
	s.peek()
	start := s.pos
	err := s.skipValue()
	if n, bad := strconv.ParseInt(string(s.data[start:s.pos]), 10, 64); bad == nil && n > 0 {
		*into = n
	}
	return err
}

// readEntry reads one entry. An invalid one is skipped if its end is clear.
func (s *scanner) readEntry(page *Page) error {
	s.peek()
	start, depth := s.pos, s.depth
	entry, renames, err := s.readTool()
	if err != nil {
		if !s.skipInvalid(start) {
			return err
		}
		s.depth = depth
		entry = Entry{Defect: brokenReason(err)}
	}
	entry.Raw = s.data[start:s.pos:s.pos]
	if err == nil && len(renames) > 0 {
		for i := range renames {
			renames[i].From -= start
			renames[i].To -= start
		}
		entry.Raw = Shape{Edits: renames}.Apply(entry.Raw)
	}
	if err != nil {
		if len(entry.Raw) == 0 { // an extra comma
			return nil
		}
		entry.Raw = quoteText(entry.Raw)
	}
	page.Entries = append(page.Entries, entry)
	return nil
}

// quoteText encodes an invalid entry as a JSON string of limited length, so that it can be shown.
func quoteText(text []byte) []byte {
	text = text[:min(len(text), maxBrokenLength)]
	raw, _ := json.Marshal(string(text)) // strings always marshal; invalid UTF-8 becomes U+FFFD
	return raw
}

func brokenReason(err error) string {
	switch {
	case errors.Is(err, ErrDepth):
		return "Nested too deeply."
	case errors.Is(err, ErrUTF8):
		return "Not valid UTF-8."
	}
	return "Not valid JSON."
}

// readTool reads and checks one entry. The edits rename members that have an alias for their name.
func (s *scanner) readTool() (Entry, []Edit, error) {
	c := itemChecker{scanner: s}
	if err := c.checkItem(ToolItem); err != nil {
		return Entry{}, nil, err
	}
	return c.newToolEntry(), c.renames, nil
}

// newToolEntry returns the checked tool. A defect of the name precedes all others.
func (c *itemChecker) newToolEntry() Entry {
	if c.defect == notAnObject {
		return Entry{Defect: c.defect}
	}
	entry := checkName(c.name)
	if entry.Defect == "" {
		entry.Defect = c.defect
	}
	return entry
}

// checkName checks a tool's name; raw is empty if there is none.
func checkName(raw []byte) Entry {
	if len(raw) == 0 {
		return Entry{Defect: "Missing name."}
	}
	if raw[0] != '"' {
		return Entry{Defect: "The name isn't a string."}
	}
	name := string(unquoteKey(raw))
	switch length := utf8.RuneCountInString(name); {
	case length == 0:
		return Entry{Defect: "The name is empty."}
	case strings.ContainsRune(name, 0):
		return Entry{Defect: "The name contains a NUL character."}
	case hasLoneSurrogate(raw):
		return Entry{Defect: "The name isn't valid Unicode."}
	case length > maxNameLength:
		return Entry{Defect: "The name exceeds 128 characters.", Name: shortenName(name)}
	}
	return Entry{Name: &name}
}

// shortenName cuts a name that is too long, for display.
func shortenName(name string) *string {
	short := string([]rune(name)[:maxNameLength])
	return &short
}
