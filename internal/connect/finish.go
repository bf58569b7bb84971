package connect

import (
	"context"
	"crypto/subtle"
	"errors"
	"log/slog"
	"net/url"
	"reflect"
	"strings"
	"time"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/oauth"
	"patchbay/internal/respond"
	"patchbay/internal/safehttp"
	"patchbay/internal/secret"
	"patchbay/internal/store"
	"patchbay/internal/tracing"
)

// finishTime bounds what follows once a code is about to be used: the exchange, and storing what it gave.
const finishTime = 30 * time.Second

// Browser is what a callback's browser has. Each binding is empty where it has none.
type Browser struct {
	Session secret.Text // [SessionBinding]
	Cookie  secret.Text // [CookieBinding]
	Person  *auth.Actor
}

// Finished is a connection that came to its end.
type Finished struct {
	Tenant    connectors.TenantID
	Connector connectors.Connector
	Agent     *connectors.Agent     // nil: the shared one
	ReturnTo  string                // a path of ours; empty: none was given
	Run       *connectors.SyncRunID // the sync that was queued; nil: none
	ByLink    bool                  // it began at a sent link
	// Again is where the same browser has to go once more, because the server took less, or another client, than it was asked
	// with. Nothing is connected yet: Run is nil. It happens at most twice in a row.
	Again *Started
}

// Finish ends a connection with what the authorization server sent through the browser. A state that is not known (any more), another
// browser, another member and another issuer are Malformed, and no token request is sent; so is a connector that is not what it
// was. Where a person said no it is Denied, with the code of the RFC. The flow is used up in every case.
func (b *Broker) Finish(ctx context.Context, q url.Values, br Browser) (Finished, error) {
	return tracing.Step(ctx, "oauth callback", failureWord, func(ctx context.Context) (Finished, error) { return b.finish(ctx, q, br) })
}

func (b *Broker) finish(ctx context.Context, q url.Values, br Browser) (Finished, error) {
	f, err := b.take(ctx, q)
	if err != nil {
		return Finished{}, err
	}
	if err := b.mayFinish(ctx, br, f); err != nil {
		return Finished{}, err
	}
	code, refusal := oauth.ReadCallback(q, f.Server)
	if refusal != nil && !isScope(refusal) {
		return Finished{}, b.explain(refusal)
	}
	p, err := b.arrived(ctx, b.tenant(f.Tenant), f)
	if err != nil {
		return Finished{}, err
	}
	back := returning{place: p, flow: f, try: tryOf(q.Get("state")), person: br.Person}
	if refusal != nil {
		return b.again(ctx, back, refusal)
	}
	// A code works once: what it gives is stored, whether or not the browser waits.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), finishTime)
	defer cancel()
	peer, ok, err := b.peer(ctx, p, f)
	switch {
	case err != nil:
		return Finished{}, b.explain(err)
	case !ok:
		return b.again(ctx, back, errClientGone)
	}
	token, err := b.exchange(ctx, peer, f, code)
	if err != nil {
		return b.refused(ctx, back, peer, err)
	}
	return b.keep(ctx, back, peer, token)
}

// take finds the flow of an answer, and ends it: no second answer finds it.
func (b *Broker) take(ctx context.Context, q url.Values) (store.Flow, error) {
	states := q["state"]
	if len(states) != 1 || states[0] == "" {
		return store.Flow{}, errOver()
	}
	f, err := b.store.System().TakeFlow(ctx, oauth.HashState(oauth.Secret(states[0])))
	if fault.Is(err, fault.NotFound) {
		return store.Flow{}, errOver()
	}
	return f, err
}

func errOver() error {
	return fault.Errorf(fault.Malformed, "This connection has ended or was used already. Start it again.")
}

// mayFinish tells whether this is the browser that was sent away, and where a member started it, whether it still is that member's.
func (b *Broker) mayFinish(ctx context.Context, br Browser, f store.Flow) error {
	if !br.has(f.BrowserHash) {
		return fault.Errorf(fault.Malformed, "This connection was started in another browser, or you have signed out since. Start it again here.")
	}
	if f.StartedBy.Type != string(auth.KindPerson) {
		return nil
	}
	p := br.Person
	switch {
	case p == nil || p.UserID == nil || f.StartedBy.ID == nil || p.UserID.UUID != *f.StartedBy.ID:
		return fault.Errorf(fault.Malformed, "Somebody else started this connection. Start it again yourself.")
	case p.Tenant.ID != f.Tenant:
		return fault.Errorf(fault.Malformed, "This connection was started in another organisation. Switch back to it, and start again.")
	}
	return overFor(p.RequireAccount(ctx, b.tenant(f.Tenant), f.AgentID))
}

// overFor is a refusal of the member who started as what it is to a connection under way: its end.
func overFor(err error) error {
	if fault.Is(err, fault.Denied) {
		return fault.Errorf(fault.Malformed, "You may not connect accounts here any more. Ask an admin to do it.")
	}
	return err
}

func (br Browser) has(hash []byte) bool {
	found := 0
	for _, binding := range []secret.Text{br.Session, br.Cookie} {
		if !binding.Empty() {
			found |= subtle.ConstantTimeCompare(browserHash(binding), hash)
		}
	}
	return found == 1
}

// arrived reads the place of a flow anew: what was granted is for what the connector was when the flow began.
func (b *Broker) arrived(ctx context.Context, tx *store.Tenant, f store.Flow) (place, error) {
	connector, agent := refs(f.ConnectorID, f.AgentID)
	p, err := find(ctx, tx, f.Tenant, connector, agent)
	if fault.Is(err, fault.NotFound) || fault.Is(err, fault.Conflict) || err == nil && !fits(p.connector, f) {
		return place{}, errChanged()
	}
	return p, err
}

func errChanged() error {
	return fault.Errorf(fault.Malformed, "The connector was changed or deleted meanwhile. Nothing was stored; start the connection again.")
}

// fits tells whether what an admin has set about the servers is what a flow was started with. Of the client, see [Broker.peer].
func fits(c connectors.Connector, f store.Flow) bool {
	s := c.OAuth
	is := func(set, used string) bool { return set == "" || set == used }
	return connectors.Origin(c.URL) == f.Origin && is(strings.TrimSuffix(s.Issuer, "/"), strings.TrimSuffix(f.Server.Issuer, "/")) &&
		is(s.AuthorizationEndpoint, f.Server.AuthorizationEndpoint) && is(s.TokenEndpoint, f.Server.TokenEndpoint) &&
		(s.Resource == nil || *s.Resource == f.Resource)
}

// sameGrants tells whether grants of both settings are of the same server, for the same client and resource.
func sameGrants(a, b connectors.OAuthSettings) bool {
	return a.SameKeeper(b) && a.AuthorizationEndpoint == b.AuthorizationEndpoint && a.ClientID == b.ClientID &&
		reflect.DeepEqual(a.Resource, b.Resource)
}

// peer is whom the flow was started with, and as whom; ok is false where our client there is another by now.
func (b *Broker) peer(ctx context.Context, p place, f store.Flow) (peer oauth.Peer, ok bool, err error) {
	client, ok, err := b.clientOf(ctx, p, f.Server, f.ClientID)
	f.Server.NotePinnedTokenEndpoint(p.connector.OAuth.TokenEndpoint)
	return oauth.Peer{Server: f.Server, Client: client, Resource: f.Resource}, ok, err
}

func (b *Broker) exchange(ctx context.Context, peer oauth.Peer, f store.Flow, code oauth.Secret) (oauth.Token, error) {
	verifier, err := b.store.Vault(f.Tenant).Verifier(f)
	if err != nil {
		return oauth.Token{}, err
	}
	ctx = safehttp.WithTenant(ctx, f.Tenant.String())
	return tracing.Step(ctx, "oauth token exchange", failureWord, func(ctx context.Context) (oauth.Token, error) {
		return b.oauth.Exchange(ctx, peer, oauth.Grant{Code: code, RedirectURI: f.RedirectURI, Verifier: oauth.Secret(verifier.Reveal())})
	})
}

// refused looks at what the token endpoint refused: a registration that the server has forgotten is forgotten here, too.
func (b *Broker) refused(ctx context.Context, back returning, peer oauth.Peer, refusal error) (Finished, error) {
	e, _ := errors.AsType[*oauth.Error](refusal)
	switch {
	case e == nil:
		return Finished{}, refusal
	case e.Kind == oauth.KindClient && e.Code != "unauthorized_client" && peer.Client.Source == oauth.SourceDynamic:
		f := back.flow
		if err := b.tenant(f.Tenant).ForgetRegistration(ctx, f.Server.Issuer, f.RedirectURI, f.ClientID); err != nil {
			return Finished{}, err
		}
		return b.again(ctx, back, refusal)
	case isScope(refusal):
		return b.again(ctx, back, refusal)
	}
	return Finished{}, b.explain(refusal)
}

func isScope(err error) bool {
	e, ok := errors.AsType[*oauth.Error](err)
	return ok && e.Kind == oauth.KindScope
}

// finished is what every end has in common.
func (r returning) finished() Finished {
	return Finished{
		Tenant: r.flow.Tenant, Connector: r.connector, Agent: r.agent,
		ReturnTo: respond.OwnPath(r.flow.ReturnTo, ""), ByLink: r.flow.StartedBy.Type == typeLink,
	}
}

func (b *Broker) logConnected(ctx context.Context, r returning, run *connectors.SyncRunID) {
	attrs := append(r.attrs(), slog.String("issuer", r.flow.Server.Issuer))
	if run != nil {
		attrs = append(attrs, slog.String("sync_run_id", run.String()))
	}
	b.log.InfoContext(ctx, "account connected", attrs...)
}
