package gateway

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"time"

	"patchbay/internal/agentview"
	"patchbay/internal/connectors"
	"patchbay/internal/mcp"
	"patchbay/internal/mcp/serve"
	"patchbay/internal/safe"
	"patchbay/internal/toolcall"
)

// A legacy client subscribes to a resource by a request, and gets updates on a stream that may be in another
// process. Its subscriptions are messages in the session's mailbox, which the stream's process reads.
const (
	subscriptionMailbox     = "resources-" // followed by the session id
	subscriptionTTL         = 24 * time.Hour
	maxSubscriptionMessages = 500 // per mailbox: subscriptions and unsubscriptions
	maxWatchedResources     = 500 // per listener; more are not watched
)

type subscriptionMessage struct {
	URI string `json:"uri"`
	On  bool   `json:"on"`
}

// updateSubscription serves resources/subscribe and resources/unsubscribe.
func (b *backend) updateSubscription(ctx context.Context, r *serve.Request) (json.RawMessage, error) {
	if err := checkNameLength(r.Name); err != nil {
		return nil, err
	}
	connector, own := b.findResourceConnector(ctx, r.Name)
	isSubscribe := r.Method == "resources/subscribe"
	switch {
	case connector == nil:
		return nil, newNotFoundError(r, nil, noPageURL)
	case isSubscribe && !canRead(b.view, connector, own):
		return nil, newReadError(r, toolcall.ItemRefusal(b.view, connector, connectors.CallResource, own), b.askURL)
	case !canSubscribe(connector):
		return nil, &serve.RPCError{Code: mcp.CodeMethodNotFound, Message: "This resource's server does not announce changes."}
	case r.Peer.Session == "":
		return nil, serve.InvalidParams("Subscriptions require a session. Send initialize first.")
	}
	box := subscriptionMailbox + r.Peer.Session
	already, err := b.h.router.Fetch(ctx, callerKey(b), box)
	if err != nil {
		return nil, newRequestError(err, noPageURL)
	}
	if len(already) >= maxSubscriptionMessages {
		return nil, serve.InvalidParams("Too many subscriptions in this session. Start a new one.")
	}
	message, err := json.Marshal(subscriptionMessage{URI: r.Name, On: isSubscribe})
	if err != nil {
		return nil, err
	}
	if err := b.h.router.Post(ctx, callerKey(b), box, message, subscriptionTTL); err != nil {
		return nil, newRequestError(err, noPageURL)
	}
	return []byte("{}"), nil
}

// noPageURL is for a refusal that no page can fix.
func noPageURL(*toolcall.RefusalError) string { return "" }

// canRead reports whether the agent may read a resource, by the server's own URI.
func canRead(v *agentview.View, connector *agentview.ConnectorView, uri string) bool {
	return toolcall.ItemRefusal(v, connector, connectors.CallResource, uri) == nil
}

func canSubscribe(connector *agentview.ConnectorView) bool {
	c := upstreamCapabilities(connector)
	return c.Resources != nil && c.Resources.Subscribe
}

// subscribedURIs returns the current subscriptions of a session.
func (b *backend) subscribedURIs(ctx context.Context, session string) ([]string, error) {
	messages, err := b.h.router.Fetch(ctx, callerKey(b), subscriptionMailbox+session)
	if err != nil {
		return nil, err
	}
	var uris []string
	on := map[string]bool{}
	for _, message := range messages {
		var s subscriptionMessage
		if json.Unmarshal(message, &s) != nil {
			continue
		}
		if s.On && !on[s.URI] {
			uris = append(uris, s.URI)
		}
		on[s.URI] = s.On
	}
	var wanted []string
	for _, uri := range uris {
		if on[uri] {
			wanted, on[uri] = append(wanted, uri), false
		}
	}
	return wanted, nil
}

// resourceWatches are a listener's upstream streams for resource updates, one per server.
type resourceWatches struct {
	*backend
	ctx         context.Context //nolint:containedctx // of the listener, which all of them end with
	notify      func(method string, params json.RawMessage)
	uris        []string                  // the subscriptions, also those that are not watched
	byConnector map[string]*resourceWatch // by slug; nil: none
	tasks       sync.WaitGroup
}

func (w *resourceWatches) stopAll() {
	for _, watch := range w.byConnector {
		watch.cancel()
	}
	w.tasks.Wait()
}

type resourceWatch struct {
	uris   string // joined, for comparison; with the account that reads them
	cancel context.CancelFunc
}

// reloadBackend returns b with the agent's current view.
func (b *backend) reloadBackend(ctx context.Context) *backend {
	view, connector := b.reloadConnector(ctx, b.connectorSlug)
	if view == nil || b.connectorSlug != "" && connector == nil {
		return b
	}
	fresh := *b
	fresh.view, fresh.connector = view, connector
	return &fresh
}

// watchSession watches the session's subscriptions.
func (w *resourceWatches) watchSession(session string) {
	if uris, err := w.subscribedURIs(w.ctx, session); err == nil {
		w.watchURIs(uris)
	}
}

// watchURIs watches exactly these resources, except those of servers without subscriptions, and those that the agent may
// not read.
func (w *resourceWatches) watchURIs(uris []string) {
	wanted, accounts := map[string][]string{}, map[string]string{}
	w.uris = uris
	if len(uris) == 0 && len(w.byConnector) == 0 {
		return
	}
	now := w.reloadBackend(w.ctx)
	for _, uri := range uris[:min(len(uris), maxWatchedResources)] {
		if connector, own := now.findResourceConnector(w.ctx, uri); connector != nil && canSubscribe(connector) && canRead(now.view, connector, own) {
			wanted[connector.Slug] = append(wanted[connector.Slug], own)
			accounts[connector.Slug] = connector.Grant.Account()
		}
	}
	if w.byConnector == nil {
		w.byConnector = map[string]*resourceWatch{}
	}
	for slug, under := range w.byConnector {
		if under.uris != watchKey(accounts[slug], wanted[slug]) {
			under.cancel()
			delete(w.byConnector, slug)
		}
	}
	for slug, own := range wanted {
		if w.byConnector[slug] == nil {
			ctx, cancel := context.WithCancel(w.ctx)
			w.byConnector[slug] = &resourceWatch{uris: watchKey(accounts[slug], own), cancel: cancel}
			safe.GoIn(&w.tasks, safe.Stream, func() {
				safe.RunLoop(ctx, "resource subscriptions", func(ctx context.Context) { w.watchServer(ctx, slug, own) })
			})
		}
	}
}

func watchKey(account string, uris []string) string {
	return account + "\n" + strings.Join(uris, "\n")
}

// Delays before reconnecting to a server that ended its stream.
const (
	minRetryPause = time.Second
	maxRetryPause = time.Minute
)

// watchServer relays a server's resource updates while the agent has access.
func (w *resourceWatches) watchServer(ctx context.Context, slug string, uris []string) {
	for pause := minRetryPause; ; pause = min(2*pause, maxRetryPause) {
		view, connector := w.reloadConnector(ctx, slug)
		if connector == nil {
			return
		}
		began := time.Now()
		_ = w.h.caller.WatchResources(ctx, view, connector, uris, func(params json.RawMessage) { w.notifyUpdate(ctx, slug, params) })
		if time.Since(began) > maxRetryPause {
			pause = minRetryPause
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
	}
}

// reloadConnector returns the agent's current view and connector; nil if it lost the grant.
func (b *backend) reloadConnector(ctx context.Context, slug string) (*agentview.View, *agentview.ConnectorView) {
	view, err := b.h.views.ByAgent(ctx, b.view.Tenant.ID, connectors.Ref(b.view.Agent.ID.String()))
	if err != nil || !view.Agent.Enabled {
		return nil, nil
	}
	return view, view.Connector(slug)
}

// notifyUpdate sends a resource update under its exposed URI if the agent may read the resource now. Other members of
// the upstream's notification are not relayed.
func (w *resourceWatches) notifyUpdate(ctx context.Context, slug string, params json.RawMessage) {
	var update struct {
		URI string `json:"uri"`
	}
	view, connector := w.reloadConnector(ctx, slug)
	if connector == nil || json.Unmarshal(params, &update) != nil || !canRead(view, connector, update.URI) {
		return
	}
	if w.connectorSlug == "" {
		update.URI = connector.Expose(update.URI)
	}
	if raw, err := json.Marshal(update); err == nil {
		w.notify("notifications/resources/updated", raw)
	}
}
