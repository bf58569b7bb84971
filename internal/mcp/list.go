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

// Tool is a valid entry of a tool list.
type Tool struct {
	Name string          // 1–128 characters
	Raw  json.RawMessage // one JSON object, as sent
}

// Quarantined is an entry of a tool list that is not a usable tool.
type Quarantined struct {
	Name   *string // nil: none that is readable
	Reason string  // a sentence in our words
	Raw    json.RawMessage
}

// ToolList is a server's whole tool list, in its order.
type ToolList struct {
	Tools       []Tool
	Quarantined []Quarantined
	Pages       int
	// TTL is how long the list may be cached. Scope is "public", "private" or empty. Servers before 2026-07-28
	// declare neither.
	TTL   time.Duration
	Scope string
	// Modern: each page has a resultType, as servers of 2026-07-28 send.
	Modern bool
}

type toolListBuilder struct {
	ToolList
	pager
	seen          map[string]json.RawMessage // tools by name
	quarantined   map[[sha256.Size]byte]bool
	checksHeaders bool // mirrored parameters are in use, so an invalid annotation quarantines a tool
}

func (c *connection) listTools(ctx context.Context) (ToolList, error) {
	l := &toolListBuilder{
		quarantined:   map[[sha256.Size]byte]bool{},
		pager:         pager{itemNoun: "tools"},
		checksHeaders: c.mirrorsParams(),
	}
	c.reportProgress(Progress{Phase: PhaseList})
	for cursor := (*string)(nil); ; {
		reply, err := c.requestIdempotent(ctx, rpcRequest{phase: PhaseList, method: "tools/list", params: cursorParams(cursor), paged: true})
		if err != nil {
			if c.isListEnd(err, cursor) {
				return l.ToolList, nil
			}
			return ToolList{}, err
		}
		if failure := c.era.checkResultType(PhaseList, reply.Page.Kind); failure != nil {
			return ToolList{}, failure
		}
		added, err := l.add(reply.Page, cursor)
		if err != nil {
			return ToolList{}, err
		}
		c.reportProgress(Progress{Phase: PhaseList, Page: l.Pages, Tools: len(l.Tools)})
		done, err := l.finishPage(reply.Page.Next, cursor, added)
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

// isListEnd reports whether an error only means the end of the list. A server without tools may not know the
// method. A server may end its list with an empty cursor that it then refuses.
func (c *connection) isListEnd(err error, cursor *string) bool {
	failure, ok := errors.AsType[*Error](err)
	if !ok || failure.Reason != ReasonRPC {
		return false
	}
	if cursor == nil {
		return failure.RPCCode == CodeMethodNotFound && !c.hasTools
	}
	return failure.RPCCode == CodeInvalidParams && *cursor == ""
}

// add adds one page. added counts its new entries.
func (l *toolListBuilder) add(page *wire.Page, cursor *string) (added int, err error) {
	if page.Defect != "" {
		return 0, newProtocolError(PhaseList, page.Defect)
	}
	l.Pages++
	l.allocateTools(min(len(page.Entries), maxTools))
	l.mergeCacheHints(page)
	if err := l.countBytes(page.Size); err != nil {
		return 0, err
	}
	for _, entry := range page.Entries {
		// A server that ignores the empty cursor sends its first page again.
		if cursor != nil && *cursor == "" && l.hasEntry(entry) {
			continue
		}
		added++
		l.addEntry(entry)
		if len(l.Tools)+len(l.Quarantined) > maxTools {
			return added, l.tooManyError()
		}
	}
	return added, nil
}

// allocateTools allocates for the first page, which often is the only one.
func (l *toolListBuilder) allocateTools(tools int) {
	if l.seen == nil {
		l.seen = make(map[string]json.RawMessage, tools)
		l.Tools = make([]Tool, 0, tools)
	}
}

// mergeCacheHints keeps the strictest TTL and scope of all pages.
func (l *toolListBuilder) mergeCacheHints(page *wire.Page) {
	ttl := time.Duration(min(page.TTL, maxTTL.Milliseconds())) * time.Millisecond
	if l.Pages == 1 || ttl < l.TTL {
		l.TTL = ttl
	}
	l.Modern = (l.Pages == 1 || l.Modern) && page.Kind != ""
	if l.Scope != "private" && (page.Scope == "private" || page.Scope == "public") {
		l.Scope = page.Scope
	}
}

func (l *toolListBuilder) hasEntry(entry wire.Entry) bool {
	if entry.Defect == "" {
		return bytes.Equal(l.seen[*entry.Name], entry.Raw)
	}
	return l.quarantined[sha256.Sum256(entry.Raw)]
}

func (l *toolListBuilder) addEntry(entry wire.Entry) {
	if entry.Defect == "" && l.checksHeaders {
		entry.Defect = findHeaderDefect(entry.Raw)
	}
	if entry.Defect == "" {
		if _, isDuplicate := l.seen[*entry.Name]; !isDuplicate {
			l.seen[*entry.Name] = entry.Raw
			l.Tools = append(l.Tools, Tool{Name: *entry.Name, Raw: entry.Raw})
			return
		}
		entry.Defect = "An earlier tool has this name."
	}
	l.quarantined[sha256.Sum256(entry.Raw)] = true
	l.Quarantined = append(l.Quarantined, Quarantined{Name: entry.Name, Reason: entry.Defect, Raw: entry.Raw})
}
