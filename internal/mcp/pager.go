package mcp

import (
	"fmt"
	"strings"
	"time"
)

// Bounds of one list.
const (
	maxPages     = 200
	maxTools     = 5000 // or prompts, or resources
	maxListBytes = 64 << 20
	maxTTL       = 365 * 24 * time.Hour
)

// pager follows the cursors of one list.
type pager struct {
	itemNoun  string // plural: "tools"
	pageCount int
	bytes     int             // of memory, for all pages
	cursors   map[string]bool // already requested
}

func (p *pager) countBytes(size int) error {
	if p.bytes += size; p.bytes > maxListBytes {
		return newTooLargeError(fmt.Sprintf("lists %s of over %d MiB", p.itemNoun, maxListBytes>>20))
	}
	return nil
}

// finishPage reports whether the list is complete after the page of cursor, which names next and added new
// entries. Many servers end every list with an empty cursor: twice in a row, or with nothing new, it is the
// end.
func (p *pager) finishPage(next, cursor *string, added int) (done bool, err error) {
	p.pageCount++
	if next == nil {
		return true, nil
	}
	if cursor != nil && *cursor == "" && (*next == "" || added == 0) {
		return true, nil
	}
	if p.cursors[*next] {
		return false, newProtocolError(PhaseList, "repeats a cursor in its "+strings.TrimSuffix(p.itemNoun, "s")+" list")
	}
	if p.pageCount >= maxPages {
		return false, newTooLargeError(fmt.Sprintf("lists its %s on over %d pages", p.itemNoun, maxPages))
	}
	if p.cursors == nil {
		p.cursors = map[string]bool{}
	}
	p.cursors[*next] = true
	return false, nil
}

func (p *pager) tooManyError() error {
	return newTooLargeError(fmt.Sprintf("lists over %d %s", maxTools, p.itemNoun))
}

func newTooLargeError(detail string) *Error {
	return &Error{Phase: PhaseList, Reason: ReasonTooLarge, HTTPStatus: 200, Detail: detail}
}
