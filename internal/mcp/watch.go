package mcp

import (
	"context"
	"encoding/json"
	"strings"

	"patchbay/internal/mcp/wire"
)

const resourceUpdated = "notifications/resources/updated"

// Watch receives notifications/resources/updated of these URIs and of resources below them. It returns nil when
// ctx ends, and an *Error when the server ends the stream or offers none. onUpdate must return quickly.
func (s *Session) Watch(ctx context.Context, uris []string, onUpdate func(Message)) error {
	err := s.currentConnection().watchResources(ctx, uris, onUpdate)
	if ctx.Err() != nil {
		return nil //nolint:nilerr // the caller ended it
	}
	return err
}

func (c *connection) watchResources(ctx context.Context, uris []string, onUpdate func(Message)) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(c.ctx, cancel)()
	id := c.newID()
	defer c.unregisterCallbacks(c.registerCallbacks(id, &requestCallbacks{message: func(m Message) {
		if m.Method == resourceUpdated && isAboutAny(m.Params, uris) {
			onUpdate(m)
		}
	}}))
	if err := c.waitForUpdates(ctx, id, uris); err != nil {
		return err
	}
	return &Error{Phase: PhaseListen, Reason: ReasonUnreachable, Detail: "the server ended the stream", Retryable: true}
}

// waitForUpdates subscribes and waits. In the handshake era all watchers of a connection share its stream and
// subscriptions.
func (c *connection) waitForUpdates(ctx context.Context, id int, uris []string) error {
	if !c.era.hasServerRequests() {
		wanted, err := json.Marshal(map[string][]string{"resourceSubscriptions": uris})
		if err != nil {
			return newRequestError(PhaseListen, "the URIs cannot be written")
		}
		if failure := c.openSubscription(ctx, id, wanted); failure != nil {
			return failure
		}
		return nil
	}
	c.openServerStream(ctx)
	for _, uri := range uris {
		unsubscribe, err := c.subscribeResource(ctx, uri)
		if err != nil {
			return err
		}
		defer unsubscribe()
	}
	<-ctx.Done()
	return nil
}

// isAboutAny reports whether a notification is about one of these resources or a part of one.
func isAboutAny(params json.RawMessage, uris []string) bool {
	uri := readString(readObject(params).get("uri"), maxInstructionsLength)
	for _, watched := range uris {
		if rest, ok := strings.CutPrefix(uri, watched); ok && (rest == "" || strings.HasSuffix(watched, "/") || strings.ContainsRune("/?#", rune(rest[0]))) {
			return true
		}
	}
	return false
}

// subscribeResource subscribes to a resource, unless a watcher has already. The last unsubscribe ends the
// subscription.
func (c *connection) subscribeResource(ctx context.Context, uri string) (unsubscribe func(), err error) {
	c.mu.Lock()
	if c.subscriptions == nil {
		c.subscriptions = map[string]int{}
	}
	c.subscriptions[uri]++
	isFirst := c.subscriptions[uri] == 1
	c.mu.Unlock()
	unsubscribe = func() { c.unsubscribeResource(context.WithoutCancel(ctx), uri) }
	if !isFirst {
		return unsubscribe, nil
	}
	if _, err := c.requestOnce(ctx, newResourceRequest("resources/subscribe", uri)); err != nil {
		unsubscribe()
		return nil, err
	}
	return unsubscribe, nil
}

func (c *connection) unsubscribeResource(ctx context.Context, uri string) {
	c.mu.Lock()
	c.subscriptions[uri]--
	last := c.subscriptions[uri] == 0
	if last {
		delete(c.subscriptions, uri)
	}
	c.mu.Unlock()
	if last {
		c.startBackground(func() {
			c.sendBestEffort(ctx, c.era.newMessage(c, newResourceRequest("resources/unsubscribe", uri), c.newID()))
		})
	}
}

func newResourceRequest(method, uri string) rpcRequest {
	return rpcRequest{phase: PhaseRequest, method: method, params: []wire.Member{{Name: "uri", Value: wire.Text(uri)}}}
}
