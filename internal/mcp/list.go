package mcp

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"time"

	"patchbay/internal/mcp/wire"
)

// Tool is a well-formed entry of a tool list.
type Tool struct {
	Name string          // 1–128 characters
	Raw  json.RawMessage // one JSON object, byte for byte as it was sent
}

// Quarantined is an entry of a tool list that is no usable tool.
type Quarantined struct {
	Name   *string // where it has a readable one
	Reason string  // a sentence in our words
	Raw    json.RawMessage
}

// ToolList is everything that a server lists, in its order.
type ToolList struct {
	Tools       []Tool
	Quarantined []Quarantined
	Pages       int
	// TTL is how long the server says that the list stays as it is, and Scope for whom: "public", "private" or empty. Servers
	// before 2026-07-28 say neither.
	TTL   time.Duration
	Scope string
	// Modern: each page says how it is meant, as servers of 2026-07-28 do.
	Modern bool
}

// listing is a tool list on its way.
type listing struct {
	ToolList
	pager
	seen    map[string]json.RawMessage // tools by name
	kept    map[[sha256.Size]byte]bool // quarantined entries
	headers bool                       // parameters are mirrored into headers, so that wrong ones break a tool
}

func (c *conversation) list(ctx context.Context) (ToolList, error) {
	l := &listing{
		kept:    map[[sha256.Size]byte]bool{},
		pager:   pager{what: "tools"},
		headers: c.mirrors(),
	}
	c.report(Progress{Phase: PhaseList})
	for cursor := (*string)(nil); ; {
		reply, err := c.ask(ctx, request{phase: PhaseList, method: "tools/list", params: cursorParams(cursor), paged: true})
		if err != nil {
			if c.listEnded(err, cursor) {
				return l.ToolList, nil
			}
			return ToolList{}, err
		}
		if failure := c.era.settle(PhaseList, reply.Page.Kind); failure != nil {
			return ToolList{}, failure
		}
		fresh, err := l.add(reply.Page, cursor)
		if err != nil {
			return ToolList{}, err
		}
		c.report(Progress{Phase: PhaseList, Page: l.Pages, Tools: len(l.Tools)})
		done, err := l.turn(reply.Page.Next, cursor, fresh)
		if done || err != nil {
			return l.ToolList, err
		}
		cursor = reply.Page.Next
	}
}

func cursorParams(cursor *string) []wire.Member {
	if cursor == nil {
		return nil
	}
	return []wire.Member{{Name: "cursor", Value: wire.Text(*cursor)}}
}

// listEnded tells whether an error only means that there is no more: a server without tools that does not know the
// method, or one that ends its list with an empty cursor and then does not take it.
func (c *conversation) listEnded(err error, cursor *string) bool {
	failure, ok := errors.AsType[*Error](err)
	if !ok || failure.Reason != ReasonRPC {
		return false
	}
	if cursor == nil {
		return failure.RPCCode == CodeMethodNotFound && !c.hasTools
	}
	return failure.RPCCode == CodeInvalidParams && *cursor == ""
}

// add takes one page. fresh counts the entries that were not there before.
func (l *listing) add(page *wire.Page, cursor *string) (fresh int, err error) {
	if page.Defect != "" {
		return 0, protocolError(PhaseList, page.Defect)
	}
	l.Pages++
	l.makeRoom(min(len(page.Entries), maxTools))
	l.hint(page)
	if err := l.weigh(page.Size); err != nil {
		return 0, err
	}
	for _, entry := range page.Entries {
		// A server that takes the empty cursor for none sends its first page again.
		if cursor != nil && *cursor == "" && l.known(entry) {
			continue
		}
		fresh++
		l.take(entry)
		if len(l.Tools)+len(l.Quarantined) > maxTools {
			return fresh, l.tooMany()
		}
	}
	return fresh, nil
}

// makeRoom is for the first page, which often is the only one.
func (l *listing) makeRoom(tools int) {
	if l.seen == nil {
		l.seen = make(map[string]json.RawMessage, tools)
		l.Tools = make([]Tool, 0, tools)
	}
}

// hint keeps the strictest of what the pages say about keeping them.
func (l *listing) hint(page *wire.Page) {
	ttl := time.Duration(min(page.TTL, maxTTL.Milliseconds())) * time.Millisecond
	if l.Pages == 1 || ttl < l.TTL {
		l.TTL = ttl
	}
	l.Modern = (l.Pages == 1 || l.Modern) && page.Kind != ""
	if l.Scope != "private" && (page.Scope == "private" || page.Scope == "public") {
		l.Scope = page.Scope
	}
}

func (l *listing) known(entry wire.Entry) bool {
	if entry.Defect == "" {
		return bytes.Equal(l.seen[*entry.Name], entry.Raw)
	}
	return l.kept[sha256.Sum256(entry.Raw)]
}

func (l *listing) take(entry wire.Entry) {
	if entry.Defect == "" && l.headers {
		entry.Defect = headerDefect(entry.Raw)
	}
	if entry.Defect == "" {
		if _, twice := l.seen[*entry.Name]; !twice {
			l.seen[*entry.Name] = entry.Raw
			l.Tools = append(l.Tools, Tool{Name: *entry.Name, Raw: entry.Raw})
			return
		}
		entry.Defect = "Another tool before it has the same name."
	}
	l.kept[sha256.Sum256(entry.Raw)] = true
	l.Quarantined = append(l.Quarantined, Quarantined{Name: entry.Name, Reason: entry.Defect, Raw: entry.Raw})
}
