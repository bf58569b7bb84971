package mcp

import (
	"context"
	"encoding/json"
	"strings"

	"golang.org/x/sync/semaphore"

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

// resourceSubscription is the subscription to one resource, which all watchers of a connection share.
type resourceSubscription struct {
	requests     *semaphore.Weighted // one request about the resource at a time: servers may read two in either order
	isSent       bool                // a subscribe request was sent, and no unsubscribe after it; guarded by requests
	isSubscribed bool                // the server confirmed it; guarded by requests
	watchers     int                 // guarded by connection.mu
}

// subscribeResource subscribes to a resource, unless the connection is subscribed. The last unsubscribe ends the
// subscription.
func (c *connection) subscribeResource(ctx context.Context, uri string) (unsubscribe func(), err error) {
	s := c.addWatcher(uri)
	unsubscribe = func() { c.removeWatcher(context.WithoutCancel(ctx), uri, s) }
	if err := s.requests.Acquire(ctx, 1); err != nil {
		unsubscribe()
		return nil, err
	}
	defer s.requests.Release(1)
	if s.isSubscribed {
		return unsubscribe, nil
	}
	s.isSent = true
	if _, err := c.requestOnce(ctx, newResourceRequest("resources/subscribe", uri)); err != nil {
		unsubscribe()
		return nil, err
	}
	s.isSubscribed = true
	return unsubscribe, nil
}

func (c *connection) addWatcher(uri string) *resourceSubscription {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.subscriptions[uri]
	if s == nil {
		s = &resourceSubscription{requests: semaphore.NewWeighted(1)}
		if c.subscriptions == nil {
			c.subscriptions = map[string]*resourceSubscription{}
		}
		c.subscriptions[uri] = s
	}
	s.watchers++
	return s
}

func (c *connection) removeWatcher(ctx context.Context, uri string, s *resourceSubscription) {
	c.mu.Lock()
	s.watchers--
	isLast := s.watchers == 0
	c.mu.Unlock()
	if isLast {
		c.startBackground(func() { c.unsubscribeResource(ctx, uri, s) })
	}
}

// unsubscribeResource ends a subscription, unless there is a watcher again.
func (c *connection) unsubscribeResource(ctx context.Context, uri string, s *resourceSubscription) {
	if s.requests.Acquire(c.ctx, 1) != nil {
		return
	}
	defer s.requests.Release(1)
	if s.isSent && !c.isWatched(s) {
		s.isSent, s.isSubscribed = false, false
		ctx, cancel := context.WithTimeout(ctx, min(bestEffortTimeout, c.timeout))
		defer cancel()
		_, _ = c.requestOnce(ctx, newResourceRequest("resources/unsubscribe", uri))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if s.watchers == 0 && c.subscriptions[uri] == s {
		delete(c.subscriptions, uri)
	}
}

func (c *connection) isWatched(s *resourceSubscription) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return s.watchers > 0
}

func newResourceRequest(method, uri string) rpcRequest {
	return rpcRequest{phase: PhaseRequest, method: method, params: []wire.Member{{Name: "uri", Value: wire.Text(uri)}}}
}
