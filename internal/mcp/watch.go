package mcp

import (
	"context"
	"encoding/json"
	"strings"

	"patchbay/internal/mcp/wire"
)

const updated = "notifications/resources/updated"

// Watch hears of changes of resources (the notifications/resources/updated of these URIs and of what is below them), until ctx ends (nil),
// or the server ends it or offers no such thing (an *Error). hear must return quickly.
func (s *Session) Watch(ctx context.Context, uris []string, hear func(Message)) error {
	err := s.current().watch(ctx, uris, hear)
	if ctx.Err() != nil {
		return nil //nolint:nilerr // whoever watched has seen enough
	}
	return err
}

func (c *conversation) watch(ctx context.Context, uris []string, hear func(Message)) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(c.life, cancel)()
	id := c.id()
	defer c.depart(c.attend(id, &caller{message: func(m Message) {
		if m.Method == updated && concerns(m.Params, uris) {
			hear(m)
		}
	}}))
	if err := c.watchIn(ctx, id, uris); err != nil {
		return err
	}
	return &Error{Phase: PhaseListen, Reason: ReasonUnreachable, Detail: "the server ended the stream", Retryable: true}
}

// watchIn waits for what is heard. In the handshake era all who watch in a conversation share its stream, and its subscriptions.
func (c *conversation) watchIn(ctx context.Context, id int, uris []string) error {
	if !c.era.asks() {
		wanted, err := json.Marshal(map[string][]string{"resourceSubscriptions": uris})
		if err != nil {
			return ownMistake(PhaseListen, "the URIs cannot be written")
		}
		if failure := c.subscribeTo(ctx, id, wanted); failure != nil {
			return failure
		}
		return nil
	}
	c.hearken(ctx)
	for _, uri := range uris {
		leave, err := c.subscribe(ctx, uri)
		if err != nil {
			return err
		}
		defer leave()
	}
	<-ctx.Done()
	return nil
}

// concerns tells whether a notification is about one of these resources, or a part of one.
func concerns(params json.RawMessage, uris []string) bool {
	uri := text(members(params).get("uri"), maxInstructionsLength)
	for _, of := range uris {
		if rest, ok := strings.CutPrefix(uri, of); ok && (rest == "" || strings.HasSuffix(of, "/") || strings.ContainsRune("/?#", rune(rest[0]))) {
			return true
		}
	}
	return false
}

// subscribe asks for the changes of a resource, unless somebody has already. The last one who leaves ends it.
func (c *conversation) subscribe(ctx context.Context, uri string) (leave func(), err error) {
	c.mu.Lock()
	if c.watched == nil {
		c.watched = map[string]int{}
	}
	c.watched[uri]++
	first := c.watched[uri] == 1
	c.mu.Unlock()
	leave = func() { c.unsubscribe(context.WithoutCancel(ctx), uri) }
	if !first {
		return leave, nil
	}
	if _, err := c.once(ctx, resourceRequest("resources/subscribe", uri)); err != nil {
		leave()
		return nil, err
	}
	return leave, nil
}

func (c *conversation) unsubscribe(ctx context.Context, uri string) {
	c.mu.Lock()
	c.watched[uri]--
	last := c.watched[uri] == 0
	if last {
		delete(c.watched, uri)
	}
	c.mu.Unlock()
	if last {
		c.start(func() { c.courtesy(ctx, c.era.message(c, resourceRequest("resources/unsubscribe", uri), c.id())) })
	}
}

func resourceRequest(method, uri string) request {
	return request{phase: PhaseRequest, method: method, params: []wire.Member{{Name: "uri", Value: wire.Text(uri)}}}
}
