package store

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/google/uuid"

	"patchbay/internal/fault"
)

// The bounds of Page.Limit.
const (
	DefaultLimit = 50
	MaxLimit     = 200
)

// Page asks for a part of a list.
type Page struct {
	Limit  int    // 1–200; 0: 50
	Cursor string // List.Next of the part before; empty: the first part
	Order  Order  // of connectors, agents and tools
}

// List is a part of a list.
type List[T any] struct {
	Items []T    // never nil
	Next  string // the next part's cursor; empty: this is the end
}

// rows is how many rows to ask for: one more than the page shows, to know whether there are more.
func (p Page) rows() int32 { return int32(p.limit()) + 1 }

func (p Page) limit() int {
	switch {
	case p.Limit <= 0:
		return DefaultLimit
	case p.Limit > MaxLimit:
		return MaxLimit
	}
	return p.Limit
}

// MaxPageBytes is where a page of definitions ends, however few they are: one may be of 8 MiB, and a page of 200 such would
// take the memory of the machine.
const MaxPageBytes = 16 << 20

// listOf makes a page of the rows that Page.rows asked for. at is the keyset position of a row.
func listOf[R, T any](p Page, rows []R, item func(R) T, list string, at func(R) []string) List[T] {
	return listUntil(p, rows, item, list, at, func(R) bool { return false })
}

// listUntil is listOf for a query that may end a page early: more tells of its last row that others follow.
func listUntil[R, T any](
	p Page, rows []R, item func(R) T, list string, at func(R) []string, more func(R) bool,
) List[T] {
	over := len(rows) > p.limit()
	if over {
		rows = rows[:p.limit()]
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

// A cursor is the base64url of a JSON array: the list's name, then the keyset position of the last row shown. It grants
// nothing: whoever invents one sees the same rows from another place.
func writeCursor(list string, position ...string) string {
	b, err := json.Marshal(append([]string{list}, position...))
	if err != nil {
		panic(err) // strings always marshal
	}
	return base64.RawURLEncoding.EncodeToString(b)
}

// position reads the cursor of a list; nil: the first page.
func (p Page) position(list string, parts int) ([]string, error) {
	if p.Cursor == "" {
		return nil, nil
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(p.Cursor)
	if err != nil {
		return nil, badCursor(err)
	}
	var fields []string
	if err := json.Unmarshal(b, &fields); err != nil {
		return nil, badCursor(err)
	}
	if len(fields) != parts+1 || fields[0] != list {
		return nil, badCursor(nil)
	}
	for _, f := range fields {
		if !utf8.ValidString(f) || strings.ContainsRune(f, 0) {
			return nil, badCursor(nil)
		}
	}
	return fields[1:], nil
}

// afterID reads a cursor that is an id; nil: the first page.
func (p Page) afterID(list string) (*uuid.UUID, error) {
	at, err := p.position(list, 1)
	if at == nil || err != nil {
		return nil, err
	}
	return cursorID(at[0])
}

// afterText reads a cursor that is a text; nil: the first page.
func (p Page) afterText(list string) (*string, error) {
	at, err := p.position(list, 1)
	if at == nil || err != nil {
		return nil, err
	}
	return &at[0], nil
}

// afterNamed reads a cursor that is a name and an id; both nil: the first page.
func (p Page) afterNamed(list string) (*string, *uuid.UUID, error) {
	at, err := p.position(list, 2)
	if at == nil || err != nil {
		return nil, nil, err
	}
	id, err := cursorID(at[1])
	return &at[0], id, err
}

func cursorID(s string) (*uuid.UUID, error) {
	id, err := uuid.Parse(s)
	if err != nil || len(s) != 36 {
		return nil, badCursor(err)
	}
	return &id, nil
}

func badCursor(cause error) error {
	return fault.Wrap(fault.Malformed, cause, "The cursor is none of this list's.")
}
