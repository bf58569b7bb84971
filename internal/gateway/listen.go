package gateway

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"patchbay/internal/access"
	"patchbay/internal/connectors"
	"patchbay/internal/mcp/serve"
)

// Listen tells which lists are not what they were, until ctx ends, or the agent's token is good no more.
func (b *backend) Listen(ctx context.Context, f serve.Filter, hear func(method string, params json.RawMessage)) error {
	changed, stop := b.h.access.Listen(access.Listener{View: b.view, Token: b.token, Connector: b.slug})
	defer stop()
	b.h.listeners.Add(1) // from here on it hears everything
	defer b.h.listeners.Add(-1)
	b.h.leftovers.add()
	expires, cancel := expiry(b.token)
	defer cancel()
	w := &watches{backend: b, ctx: ctx, hear: hear}
	defer w.stop()
	w.want(f.URIs)
	subscriptions, leave := b.subscriptions(f.Peer)
	defer leave()
	accounts, off := b.accounts(f.Peer)
	defer off()
	told := map[connectors.AccountRequestID]bool{}
	// Most sessions can have subscribed to nothing, and are not asked for: a statement for each idle listener, and its stack, are spared.
	asked := subscriptions == nil || b.subscribable()
	if !asked {
		<-subscriptions
	}
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-expires:
			return nil
		case <-accounts:
			b.tellAccounts(ctx, f.Peer.Session, told, hear)
		case <-subscriptions:
			asked = true
			w.wantOf(f.Peer.Session)
		case c := <-changed:
			if c.Gone {
				return nil
			}
			tell(c, f, hear)
			if !asked && c.Resources {
				asked = true
				w.wantOf(f.Peer.Session)
			}
		}
	}
}

// subscriptions tells when a session of the handshake era has subscribed to something, and first at once; nil: such there are none.
func (b *backend) subscriptions(p *serve.Peer) (<-chan struct{}, func()) {
	if p == nil || p.Modern || p.Session == "" {
		return nil, func() {}
	}
	return b.h.router.await(subscriptionBox + p.Session)
}

// subscribable tells whether any server here tells of its resources' changes.
func (b *backend) subscribable() bool {
	if b.reach != nil {
		return canSubscribe(b.reach)
	}
	return slices.ContainsFunc(b.view.Reaches, canSubscribe)
}

func tell(c access.Changed, f serve.Filter, hear func(method string, params json.RawMessage)) {
	if c.Tools && f.Tools {
		hear("notifications/tools/list_changed", nil)
	}
	if c.Prompts && f.Prompts {
		hear("notifications/prompts/list_changed", nil)
	}
	if c.Resources && f.Resources {
		hear("notifications/resources/list_changed", nil)
	}
}

// expiry is when a token is over; nil: never.
func expiry(t *access.Token) (<-chan time.Time, func()) {
	if t.ExpiresAt == nil {
		return nil, func() {}
	}
	timer := time.NewTimer(time.Until(*t.ExpiresAt))
	return timer.C, func() { timer.Stop() }
}
