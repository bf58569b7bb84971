package mcp

import (
	"fmt"
	"strings"
	"time"
)

// What one list may hold.
const (
	maxPages     = 200
	maxTools     = 5000 // or prompts, or resources
	maxListBytes = 64 << 20
	maxTTL       = 365 * 24 * time.Hour
)

// pager turns the pages of one list.
type pager struct {
	what    string          // is listed, in the plural
	turned  int             // pages
	bytes   int             // in memory for all pages
	cursors map[string]bool // asked for
}

// weigh counts the bytes of a page.
func (p *pager) weigh(size int) error {
	if p.bytes += size; p.bytes > maxListBytes {
		return tooLarge(fmt.Sprintf("lists %s of more than %d MiB", p.what, maxListBytes>>20))
	}
	return nil
}

// turn tells whether the list is complete after a page that answered cursor, names next and brought so much that was not there
// before. An empty string is a cursor, but many servers end every list with it: where it comes twice in a row, or brings nothing
// new, that was all.
func (p *pager) turn(next, cursor *string, fresh int) (done bool, err error) {
	p.turned++
	if next == nil {
		return true, nil
	}
	if cursor != nil && *cursor == "" && (*next == "" || fresh == 0) {
		return true, nil
	}
	if p.cursors[*next] {
		return false, protocolError(PhaseList, "repeats a cursor in its "+strings.TrimSuffix(p.what, "s")+" list")
	}
	if p.turned >= maxPages {
		return false, tooLarge(fmt.Sprintf("lists its %s on more than %d pages", p.what, maxPages))
	}
	if p.cursors == nil {
		p.cursors = map[string]bool{}
	}
	p.cursors[*next] = true
	return false, nil
}

func (p *pager) tooMany() error {
	return tooLarge(fmt.Sprintf("lists more than %d %s", maxTools, p.what))
}

func tooLarge(detail string) *Error {
	return &Error{Phase: PhaseList, Reason: ReasonTooLarge, HTTPStatus: 200, Detail: detail}
}
