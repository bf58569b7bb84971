package store

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/google/uuid"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
)

// Bounds of Page.Limit.
const (
	DefaultLimit = 50
	MaxLimit     = 200
)

// Page requests a part of a list.
type Page struct {
	Limit  int       // 1–200; 0: 50
	Cursor string    // List.Next of the previous part; empty: the first
	Order  SortOrder // for connectors, agents and tools
}

// List is a part of a list.
type List[T any] struct {
	Items []T    // never nil
	Next  string // cursor of the next part; empty: end
}

// rowLimit is one row more than the page shows, to detect a next page.
func (p Page) rowLimit() int32 { return int32(p.effectiveLimit()) + 1 }

func (p Page) effectiveLimit() int {
	switch {
	case p.Limit <= 0:
		return DefaultLimit
	case p.Limit > MaxLimit:
		return MaxLimit
	}
	return p.Limit
}

// MaxPageBytes bounds the definitions of a page. One may have 8 MiB, so 200 of them could exhaust memory.
const MaxPageBytes = 16 << 20

// newList makes a page of the rows that rowLimit asked for. at returns a row's keyset position.
func newList[R, T any](p Page, rows []R, item func(R) T, list string, at func(R) []string) List[T] {
	return newListUntil(p, rows, item, list, at, func(R) bool { return false })
}

// newListUntil is newList for queries that may end a page early: more reports whether rows follow the last one.
func newListUntil[R, T any](
	p Page, rows []R, item func(R) T, list string, at func(R) []string, more func(R) bool,
) List[T] {
	over := len(rows) > p.effectiveLimit()
	if over {
		rows = rows[:p.effectiveLimit()]
	}
	next := ""
	if n := len(rows); n > 0 && (over || more(rows[n-1])) {
		next = writeCursor(list, at(rows[n-1])...)
	}
	items := make([]T, len(rows))
	for i, r := range rows {
		items[i] = item(r)
	}
	return List[T]{Items: items, Next: next}
}

// writeCursor encodes the list's name and the keyset position of the last row as base64url JSON. A forged
// cursor only changes the position.
func writeCursor(list string, position ...string) string {
	b, err := json.Marshal(append([]string{list}, position...))
	if err != nil {
		panic(err) // strings always marshal
	}
	return base64.RawURLEncoding.EncodeToString(b)
}

// parseCursor decodes the cursor of a list; nil: first page.
func (p Page) parseCursor(list string, parts int) ([]string, error) {
	if p.Cursor == "" {
		return nil, nil
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(p.Cursor)
	if err != nil {
		return nil, newCursorError(err)
	}
	var fields []string
	if err := json.Unmarshal(b, &fields); err != nil {
		return nil, newCursorError(err)
	}
	if len(fields) != parts+1 || fields[0] != list {
		return nil, newCursorError(nil)
	}
	for _, f := range fields {
		if !utf8.ValidString(f) || strings.ContainsRune(f, 0) {
			return nil, newCursorError(nil)
		}
	}
	return fields[1:], nil
}

// afterID decodes a cursor with an id; nil: first page.
func (p Page) afterID(list string) (*uuid.UUID, error) {
	at, err := p.parseCursor(list, 1)
	if at == nil || err != nil {
		return nil, err
	}
	return cursorID(at[0])
}

// afterText decodes a cursor with a text; nil: first page.
func (p Page) afterText(list string) (*string, error) {
	at, err := p.parseCursor(list, 1)
	if at == nil || err != nil {
		return nil, err
	}
	return &at[0], nil
}

// afterNamed decodes a cursor with a name and an id; nil: first page.
func (p Page) afterNamed(list string) (*string, *uuid.UUID, error) {
	at, err := p.parseCursor(list, 2)
	if at == nil || err != nil {
		return nil, nil, err
	}
	id, err := cursorID(at[1])
	return &at[0], id, err
}

// afterAccount decodes a cursor with the name and the id of an agent and the name of its account; nil: first page. A previous release
// wrote no account.
func (p Page) afterAccount(list string) (*string, *uuid.UUID, string, error) {
	at, err := p.parseCursor(list, 3)
	if err != nil {
		name, id, err := p.afterNamed(list)
		return name, id, connectors.DefaultAccount, err
	}
	if at == nil {
		return nil, nil, "", nil
	}
	id, err := cursorID(at[1])
	return &at[0], id, at[2], err
}

func cursorID(s string) (*uuid.UUID, error) {
	id, err := uuid.Parse(s)
	if err != nil || len(s) != 36 {
		return nil, newCursorError(err)
	}
	return &id, nil
}

func newCursorError(cause error) error {
	return fault.Wrap(fault.Malformed, cause, "The cursor is invalid.")
}
