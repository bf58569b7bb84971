package mcp

import (
	"context"
	"encoding/json"
	"time"
)

// ListKind is a list of a server's, besides that of its tools.
type ListKind string

// The lists.
const (
	Prompts           ListKind = "prompts"
	Resources         ListKind = "resources"
	ResourceTemplates ListKind = "resourceTemplates"
)

// method is the request for the list.
func (k ListKind) method() string {
	if k == ResourceTemplates {
		return "resources/templates/list"
	}
	return string(k) + "/list"
}

// RawList is a whole list, in the server's order.
type RawList struct {
	Items []json.RawMessage // byte for byte
	Pages int
	TTL   time.Duration // as in [ToolList]
	Scope string
}

// List reads a whole list, bounded as that of the tools is. Every error is an *Error.
func (s *Session) List(ctx context.Context, kind ListKind) (RawList, error) {
	ctx, cancel := context.WithTimeout(ctx, s.target.budget())
	defer cancel()
	c := s.current()
	list, err := c.listRaw(ctx, kind)
	if !lost(err) {
		return list, err
	}
	if c, err = s.renew(ctx, c); err != nil {
		return RawList{}, err
	}
	return c.listRaw(ctx, kind)
}

func (c *conversation) listRaw(ctx context.Context, kind ListKind) (list RawList, err error) {
	p := pager{what: string(kind)}
	for cursor := (*string)(nil); ; {
		reply, err := c.ask(ctx, request{phase: PhaseList, method: kind.method(), params: cursorParams(cursor)})
		if err != nil {
			return RawList{}, err
		}
		page, next, err := list.page(kind, reply.Result)
		if err == nil {
			err = p.weigh(len(reply.Result))
		}
		if err == nil && len(list.Items)+len(page) > maxTools {
			err = p.tooMany()
		}
		if err != nil {
			return RawList{}, err
		}
		list.Items = append(list.Items, page...)
		list.Pages++
		done, err := p.turn(next, cursor, len(page))
		if err != nil {
			return RawList{}, err
		}
		if done {
			return list, nil
		}
		cursor = next
	}
}

// page reads one page, and what it says about keeping it.
func (l *RawList) page(kind ListKind, raw []byte) (items []json.RawMessage, next *string, err error) {
	fields := members(raw)
	if fields == nil || json.Unmarshal(fields.get(string(kind)), &items) != nil {
		return nil, nil, protocolError(PhaseList, "sent a list that is none")
	}
	if json.Unmarshal(fields.get("nextCursor"), &next) != nil {
		next = nil
	}
	if ttl := milliseconds(fields.get("ttlMs")); l.Pages == 0 || ttl < l.TTL {
		l.TTL = ttl
	}
	if l.Scope != "private" {
		l.Scope = text(fields.get("cacheScope"), maxNameLength)
	}
	return items, next, nil
}
