package gateway

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"patchbay/internal/agentview"
	"patchbay/internal/connectors"
	"patchbay/internal/mcp/serve"
)

// Listen sends list change notifications until ctx ends or the token becomes invalid.
func (b *backend) Listen(ctx context.Context, f serve.Filter, notify func(method string, params json.RawMessage)) error {
	notices, ignoreNotices := b.watchNotices(f.Peer)
	defer ignoreNotices()
	changed, stop := b.h.views.Listen(agentview.Listener{View: b.view, Token: b.token, Connector: b.connectorSlug})
	defer stop()
	b.h.listeners.Add(1) // from here on no change is missed
	defer b.h.listeners.Add(-1)
	b.h.gc.addListener()
	expires, cancel := expiryTimer(b.token)
	defer cancel()
	w := &resourceWatches{backend: b, ctx: ctx, notify: notify}
	defer w.stopAll()
	w.watchURIs(f.URIs)
	subscriptions, unwatch := b.watchSubscriptions(f.Peer)
	defer unwatch()
	accounts, off := b.watchAccounts(f.Peer)
	defer off()
	sent := map[connectors.AccountRequestID]bool{}
	// Most sessions cannot have subscriptions. Not reading them saves a query and its stack for each idle
	// listener.
	isWatching := subscriptions == nil || b.canSubscribeAny()
	if !isWatching {
		<-subscriptions
	}
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-expires:
			return nil
		case <-accounts:
			b.notifyAccounts(ctx, f.Peer.Session, sent, notify)
		case <-notices:
			b.sendNotices(ctx, f.Peer.Session, notify)
		case <-subscriptions:
			isWatching = true
			w.watchSession(f.Peer.Session)
		case c := <-changed:
			if c.AccessEnded {
				return nil
			}
			notifyListChanges(c, f, notify)
			switch {
			case c.Resources && !isWatching:
				isWatching = true
				w.watchSession(f.Peer.Session)
			case c.Resources: // the agent may read others of them now
				w.watchURIs(w.uris)
			}
		}
	}
}

// watchSubscriptions signals, at once and after each change, that a legacy session may have subscriptions; nil
// for other clients.
func (b *backend) watchSubscriptions(p *serve.Client) (<-chan struct{}, func()) {
	if p == nil || p.Modern || p.Session == "" {
		return nil, func() {}
	}
	return b.h.router.watchMailbox(subscriptionMailbox + p.Session)
}

// canSubscribeAny reports whether a server at this address supports resource subscriptions.
func (b *backend) canSubscribeAny() bool {
	if b.connector != nil {
		return canSubscribe(b.connector)
	}
	return slices.ContainsFunc(b.view.Connectors, canSubscribe)
}

func notifyListChanges(c agentview.Changed, f serve.Filter, notify func(method string, params json.RawMessage)) {
	if c.Tools && f.Tools {
		notify("notifications/tools/list_changed", nil)
	}
	if c.Prompts && f.Prompts {
		notify("notifications/prompts/list_changed", nil)
	}
	if c.Resources && f.Resources {
		notify("notifications/resources/list_changed", nil)
	}
}

// expiryTimer fires when the token expires; nil: never.
func expiryTimer(t *agentview.Token) (<-chan time.Time, func()) {
	if t.ExpiresAt == nil {
		return nil, func() {}
	}
	timer := time.NewTimer(time.Until(*t.ExpiresAt))
	return timer.C, func() { timer.Stop() }
}
