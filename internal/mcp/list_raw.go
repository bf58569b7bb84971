package mcp

import (
	"context"
	"encoding/json"
	"time"
)

// ListKind is a list other than that of tools.
type ListKind string

// The kinds of lists, as MCP names them.
const (
	Prompts           ListKind = "prompts"
	Resources         ListKind = "resources"
	ResourceTemplates ListKind = "resourceTemplates"
	Skills            ListKind = "skills" // of SEP-2640
)

func (k ListKind) methodName() string {
	if k == ResourceTemplates {
		return "resources/templates/list"
	}
	return string(k) + "/list"
}

// RawList is a whole list in the server's order.
type RawList struct {
	Items []json.RawMessage // byte for byte
	Pages int
	TTL   time.Duration // as in [ToolList]
	Scope string
}

// List reads a whole list, with the bounds of a tool list. Every error is an *Error.
func (s *Session) List(ctx context.Context, kind ListKind) (RawList, error) {
	ctx, cancel := context.WithTimeout(ctx, s.target.timeBudget())
	defer cancel()
	c := s.currentConnection()
	list, err := c.listItems(ctx, kind)
	if !isSessionLost(err) {
		return list, err
	}
	if c, err = s.waitForReplacement(ctx, c); err != nil {
		return RawList{}, err
	}
	return c.listItems(ctx, kind)
}

func (c *connection) listItems(ctx context.Context, kind ListKind) (list RawList, err error) {
	p := pager{itemNoun: string(kind)}
	for cursor := (*string)(nil); ; {
		reply, err := c.requestIdempotent(ctx, rpcRequest{phase: PhaseList, method: kind.methodName(), params: cursorParams(cursor)})
		if err != nil {
			return RawList{}, err
		}
		page, next, err := list.readPage(kind, reply.Result)
		if err == nil {
			err = p.countBytes(len(reply.Result))
		}
		if err == nil && len(list.Items)+len(page) > maxTools {
			err = p.tooManyError()
		}
		if err != nil {
			return RawList{}, err
		}
		list.Items = append(list.Items, page...)
		list.Pages++
		done, err := p.finishPage(next, cursor, len(page))
		if err != nil {
			return RawList{}, err
		}
		if done {
			return list, nil
		}
		cursor = next
	}
}

func (l *RawList) readPage(kind ListKind, raw []byte) (items []json.RawMessage, next *string, err error) {
	fields := readObject(raw)
	if fields == nil || json.Unmarshal(fields.get(string(kind)), &items) != nil {
		return nil, nil, newProtocolError(PhaseList, "sent an invalid list")
	}
	if json.Unmarshal(fields.get("nextCursor"), &next) != nil {
		next = nil
	}
	if ttl := readMilliseconds(fields.get("ttlMs")); l.Pages == 0 || ttl < l.TTL {
		l.TTL = ttl
	}
	if l.Scope != "private" {
		l.Scope = readString(fields.get("cacheScope"), maxNameLength)
	}
	return items, next, nil
}
