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

// finishTimeout bounds the code exchange and storing its result.
const finishTimeout = 30 * time.Second

// BrowserBindings has the bindings of a callback's browser, each empty if absent.
type BrowserBindings struct {
	Session secret.Text // [SessionBinding]
	Cookie  secret.Text // [CookieBinding]
	Person  *auth.Actor
}

// Connection is the result of a connection.
type Connection struct {
	Tenant    connectors.TenantID
	Connector connectors.Connector
	Agent     *connectors.Agent     // nil: the shared one
	ReturnTo  string                // a local path; empty: none given
	Run       *connectors.SyncRunID // queued sync; nil: none
	ByLink    bool                  // started from a link
	Account   string                // that signed in; empty: unknown
	Name      string                // of the account among those of its owner; empty: the only one
	// Restarted is the next authorization URL for the same browser, with fewer scopes or another client. Nothing is
	// connected yet: Run is nil. It happens at most twice.
	Restarted *Authorization
}

// Finish completes a connection with the parameters of the callback. An unknown state, another browser, member
// or issuer, and a changed connector are Malformed, without a token request. A refusal by the person is Denied,
// with the code of the RFC, and has the connection that was refused. The flow is used up in every case.
func (b *Broker) Finish(ctx context.Context, q url.Values, br BrowserBindings) (Connection, error) {
	return tracing.Step(ctx, "oauth callback", failureClass, func(ctx context.Context) (Connection, error) { return b.finishFlow(ctx, q, br) })
}

func (b *Broker) finishFlow(ctx context.Context, q url.Values, br BrowserBindings) (Connection, error) {
	f, err := b.takeFlow(ctx, q)
	if err != nil {
		return Connection{}, err
	}
	if err := b.checkBrowser(ctx, br, f); err != nil {
		return Connection{}, err
	}
	code, refusal := oauth.ReadCallback(q, f.Server)
	p, err := b.loadTarget(ctx, b.tenantStore(f.Tenant), f)
	switch {
	case refusal != nil && !isScopeError(refusal):
		if err != nil { // the refusal ends the connection of a connector that changed, too
			return Connection{}, b.toFault(refusal)
		}
		return callbackFlow{target: p, flow: f}.toFinished(), b.toFault(refusal)
	case err != nil:
		return Connection{}, err
	}
	back := callbackFlow{target: p, flow: f, try: parseTry(q.Get("state")), actor: br.Person}
	if refusal != nil {
		return b.restartFlow(ctx, back, refusal)
	}
	// A code works once, so its result is stored even if the browser disconnects.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), finishTimeout)
	defer cancel()
	peer, ok, err := b.findPeer(ctx, p, f)
	switch {
	case err != nil:
		return Connection{}, b.explainFailure(ctx, p, f.StartedBy.Type, err)
	case !ok:
		return b.restartFlow(ctx, back, errClientGone)
	}
	token, err := b.exchangeCode(ctx, peer, f, code)
	if err != nil {
		return b.handleRefusal(ctx, back, peer, code, err)
	}
	g := newGrant(f, peer, token)
	g.Meta.Identity = b.readIdentity(ctx, back, peer, token)
	g.Account = g.Meta.Identity.Name
	return b.storeGrant(ctx, back, peer, g)
}

// takeFlow deletes and returns the flow of a callback: no second callback finds it.
func (b *Broker) takeFlow(ctx context.Context, q url.Values) (store.Flow, error) {
	states := q["state"]
	if len(states) != 1 || states[0] == "" {
		return store.Flow{}, errFlowOver()
	}
	f, err := b.store.System().Sessions().TakeFlow(ctx, oauth.HashState(oauth.Secret(states[0])))
	if fault.Is(err, fault.NotFound) {
		return store.Flow{}, errFlowOver()
	}
	return f, err
}

func errFlowOver() error {
	return fault.Errorf(fault.Malformed, "This connection expired or was already used. Reconnect.")
}

// checkBrowser fails unless this is the browser of the start, and the actor still the member that started the
// flow.
func (b *Broker) checkBrowser(ctx context.Context, br BrowserBindings, f store.Flow) error {
	if !br.hasBinding(f.BrowserHash) {
		return fault.Errorf(fault.Malformed, "You started this in another browser or have signed out since. Reconnect here.")
	}
	if f.StartedBy.Type != string(auth.KindPerson) {
		return nil
	}
	p := br.Person
	switch {
	case p == nil || p.UserID == nil || f.StartedBy.ID == nil || p.UserID.UUID != *f.StartedBy.ID:
		return fault.Errorf(fault.Malformed, "Someone else started this connection. Start your own.")
	case p.Tenant.ID != f.Tenant:
		return fault.Errorf(fault.Malformed, "This was started in another organisation. Switch back and reconnect.")
	}
	return endOnDenied(p.RequireAccount(ctx, b.tenantStore(f.Tenant).Agents(), f.AgentID))
}

// endOnDenied converts a refusal of the starting member into the end of the connection.
func endOnDenied(err error) error {
	if fault.Is(err, fault.Denied) {
		return fault.Errorf(fault.Malformed, "You can no longer connect accounts here. Ask an admin.")
	}
	return err
}

func (br BrowserBindings) hasBinding(hash []byte) bool {
	found := 0
	for _, binding := range []secret.Text{br.Session, br.Cookie} {
		if !binding.Empty() {
			found |= subtle.ConstantTimeCompare(browserHash(binding), hash)
		}
	}
	return found == 1
}

// loadTarget reloads the target of a flow: the grant is for the connector as it was at the start.
func (b *Broker) loadTarget(ctx context.Context, tx *store.Tenant, f store.Flow) (target, error) {
	connector, agent := toRefs(f.ConnectorID, f.AgentID)
	p, err := findTarget(ctx, tx, f.Tenant, connector, agent)
	if fault.Is(err, fault.NotFound) || fault.Is(err, fault.Conflict) || err == nil && !matchesSettings(p.connector, f) {
		return target{}, errChanged()
	}
	p.account, p.accountID = f.Account, f.AccountID
	return p, err
}

func errChanged() error {
	return fault.Errorf(fault.Malformed, "The connector was changed or deleted. Nothing was stored; reconnect.")
}

// matchesSettings reports whether the connector's settings are those of the flow's start. For the client see
// [Broker.findPeer].
func matchesSettings(c connectors.Connector, f store.Flow) bool {
	s := c.OAuth
	is := func(set, used string) bool { return set == "" || set == used }
	return c.CredentialOrigin() == f.Origin && is(strings.TrimSuffix(s.Issuer, "/"), strings.TrimSuffix(f.Server.Issuer, "/")) &&
		is(s.AuthorizationEndpoint, f.Server.AuthorizationEndpoint) && is(s.TokenEndpoint, f.Server.TokenEndpoint) &&
		(s.Resource == nil || *s.Resource == f.Resource)
}

// sameGrants reports whether grants of both settings have the same server, client and resource.
func sameGrants(a, b connectors.OAuthSettings) bool {
	return a.SameAuthServer(b) && a.AuthorizationEndpoint == b.AuthorizationEndpoint && a.ClientID == b.ClientID &&
		reflect.DeepEqual(a.Resource, b.Resource)
}

// findPeer returns the server and client of the flow; ok is false if our client there is another by now.
func (b *Broker) findPeer(ctx context.Context, p target, f store.Flow) (findPeer oauth.Peer, ok bool, err error) {
	client, ok, err := b.findFlowClient(ctx, p, f.Server, f.ClientID)
	f.Server.NotePinnedTokenEndpoint(p.connector.OAuth.TokenEndpoint)
	return oauth.Peer{Server: f.Server, Client: client, Resource: f.Resource}, ok, err
}

func (b *Broker) exchangeCode(ctx context.Context, peer oauth.Peer, f store.Flow, code oauth.Secret) (oauth.Token, error) {
	verifier, err := b.store.Vault(f.Tenant).Verifier(f)
	if err != nil {
		return oauth.Token{}, err
	}
	ctx = safehttp.WithTenant(ctx, f.Tenant.String())
	return tracing.Step(ctx, "oauth token exchange", failureClass, func(ctx context.Context) (oauth.Token, error) {
		return b.oauth.Exchange(ctx, peer, oauth.Grant{Code: code, RedirectURI: f.RedirectURI, Verifier: oauth.Secret(verifier.Reveal())})
	})
}

// handleRefusal handles an error of the token endpoint: a registration that the server forgot is deleted.
func (b *Broker) handleRefusal(ctx context.Context, back callbackFlow, peer oauth.Peer, code oauth.Secret, refusal error) (Connection, error) {
	e, _ := errors.AsType[*oauth.Error](refusal)
	switch {
	case e == nil:
		return Connection{}, refusal
	case e.Kind == oauth.KindClient && e.Code != "unauthorized_client" && peer.Client.Source == oauth.SourceDynamic:
		f := back.flow
		if err := b.tenantStore(f.Tenant).Accounts().DeleteRegistration(ctx, f.Server.Issuer, f.RedirectURI, f.ClientID); err != nil {
			return Connection{}, err
		}
		return b.restartFlow(ctx, back, refusal)
	case isScopeError(refusal):
		return b.restartFlow(ctx, back, refusal)
	}
	return Connection{}, b.explainExchange(ctx, back, peer, code, refusal)
}

func isScopeError(err error) bool {
	e, ok := errors.AsType[*oauth.Error](err)
	return ok && e.Kind == oauth.KindScope
}

// toFinished returns the fields that every result has.
func (r callbackFlow) toFinished() Connection {
	return Connection{
		Tenant: r.flow.Tenant, Connector: r.connector, Agent: r.agent,
		ReturnTo: respond.OwnPath(r.flow.ReturnTo, ""), ByLink: r.flow.StartedBy.Type == typeLink,
	}
}

func (b *Broker) logConnected(ctx context.Context, r callbackFlow, run *connectors.SyncRunID) {
	attrs := append(r.logAttrs(), slog.String("issuer", r.flow.Server.Issuer))
	if run != nil {
		attrs = append(attrs, slog.String("sync_run_id", run.String()))
	}
	b.log.InfoContext(ctx, "account connected", attrs...)
}
