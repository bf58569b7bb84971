package connect

import (
	"context"
	"crypto/sha256"
	"errors"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/oauth"
	"patchbay/internal/respond"
	"patchbay/internal/secret"
	"patchbay/internal/store"
)

// actBegin is the audit action of redirecting a person to an authorization server.
const actBegin = "credential.begin"

// flowTTL bounds the time at the authorization server. The store expires flows by its own clock.
const flowTTL = 10 * time.Minute

// StartRequest is a request to start a connection.
type StartRequest struct {
	Connector connectors.Ref
	Agent     *connectors.Ref // agent of the account; nil: shared
	Account   string          // its name; empty: the owner's only one
	ReturnTo  string          // a local path; others are ignored
	Replaces  bool            // another account than the stored one is accepted
	Browser   secret.Text     // binding: [SessionBinding]
}

// Authorization is a connection to continue in the browser.
type Authorization struct {
	AuthorizeURL string // works in the bound browser only
	Issuer       string
	ExpiresAt    time.Time
}

// Start starts a connection for an admin, or for the member of a personal agent; others are Denied. It fails
// with Conflict if no account can be connected, an admin must enter a client, or the client secret belongs to
// another server, and with Upstream if a server fails. After the first request a *[Failed] is in the error's
// chain.
func (b *Broker) Start(ctx context.Context, a auth.Actor, o StartRequest) (Authorization, error) {
	p, err := b.findOwnTarget(ctx, a, o.Connector, o.Agent)
	if err != nil {
		return Authorization{}, err
	}
	if err := b.nameAccount(ctx, &p, o.Account); err != nil {
		return Authorization{}, err
	}
	d, err := b.prepareFlow(ctx, p, flowRequest{by: newStarter(a), began: new(a.Event(actBegin, "")), browserHash: browserHash(o.Browser), returnTo: o.ReturnTo, replaces: o.Replaces})
	if err != nil {
		return Authorization{}, err
	}
	return b.storeFlow(ctx, d)
}

// flowRequest is the origin of a flow.
type flowRequest struct {
	by          store.Starter
	began       *store.Event // audit event; nil: a restart, without event
	browserHash []byte       // empty: no binding
	returnTo    string
	replaces    bool // another account than the stored one is accepted
	try         int  // restarts so far
}

// preparedFlow is a flow to store, with its authorization URL.
type preparedFlow struct {
	authSurvey
	flow  store.NewFlow
	url   string
	began *store.Event // as of flowRequest
}

// prepareFlow contacts the servers and makes everything but the flow's row.
func (b *Broker) prepareFlow(ctx context.Context, p target, who flowRequest) (preparedFlow, error) {
	ctx, cancel := context.WithTimeout(ctx, prepareTimeout)
	defer cancel()
	look := b.surveyServers
	if who.by.Type == typeLink {
		look = b.surveyOnce
	}
	s, err := look(ctx, p)
	if learned := b.storeAuthBehaviour(ctx, s); learned != nil {
		return preparedFlow{}, learned
	}
	if err != nil {
		return preparedFlow{}, b.newFailure(ctx, s, who.by.Type, err)
	}
	return b.buildFlow(ctx, s, who)
}

// buildFlow makes the flow and its URL, and finds or registers the client.
func (b *Broker) buildFlow(ctx context.Context, s authSurvey, who flowRequest) (preparedFlow, error) {
	if len(who.browserHash) == 0 {
		return preparedFlow{}, errors.New("start a connection: no browser to bind it to")
	}
	client, err := b.findClient(ctx, s)
	if err != nil {
		return preparedFlow{}, b.newFailure(ctx, s, who.by.Type, err)
	}
	state, pkce := newState(who.try), oauth.NewPKCE()
	if s.hasOthers, err = b.hasOtherAccounts(ctx, s.target); err != nil {
		return preparedFlow{}, err
	}
	address, err := b.authorizeURL(s, client, state, pkce)
	if err != nil {
		return preparedFlow{}, b.newFailure(ctx, s, who.by.Type, err)
	}
	return preparedFlow{authSurvey: s, url: address, began: who.began, flow: store.NewFlow{
		StateHash: oauth.HashState(state), BrowserHash: who.browserHash, ConnectorID: s.connector.ID, AgentID: s.agentID(), Account: s.account, AccountID: s.accountID,
		StartedBy: who.by, Origin: s.connector.CredentialOrigin(), Server: s.discovery.Server, ClientID: client.ClientID,
		Resource: s.discovery.Resource, Scopes: s.scopes, RedirectURI: b.RedirectURI(),
		ReturnTo: respond.OwnPath(who.returnTo, ""), Replaces: who.replaces, Verifier: secret.Text(pkce.Verifier.Reveal()),
	}}, nil
}

func (b *Broker) authorizeURL(s authSurvey, client oauth.Registration, state oauth.Secret, pkce oauth.PKCE) (string, error) {
	return b.oauth.AuthorizationURL(oauth.AuthorizationRequest{
		Peer:        oauth.Peer{Server: s.discovery.Server, Client: client, Resource: s.discovery.Resource},
		RedirectURI: b.RedirectURI(), State: state, Challenge: pkce.Challenge, Scopes: s.scopes, SelectAccount: s.hasOthers,
	})
}

// storeFlow stores the flow: from here on its URL works, once.
func (b *Broker) storeFlow(ctx context.Context, d preparedFlow) (Authorization, error) {
	err := b.tenantStore(d.tenant).Tx(ctx, func(tx *store.Tenant) error {
		if err := tx.Accounts().SaveFlow(ctx, d.flow); err != nil || d.began == nil {
			return err
		}
		e := d.describeEvent(*d.began)
		e.Detail["issuer"], e.Detail["scopes"] = d.flow.Server.Issuer, d.flow.Scopes
		return tx.Audit().Record(ctx, e)
	})
	if err != nil {
		return Authorization{}, err
	}
	b.log.InfoContext(ctx, "connection started", append(d.logAttrs(), slog.String("issuer", d.flow.Server.Issuer))...)
	return Authorization{AuthorizeURL: d.url, Issuer: d.flow.Server.Issuer, ExpiresAt: b.now().Add(flowTTL)}, nil
}

// browserHash returns the stored form of a binding; nil for none.
func browserHash(binding secret.Text) []byte {
	if binding.Empty() {
		return nil
	}
	sum := sha256.Sum256([]byte(binding.Reveal()))
	return sum[:]
}

// newState makes a state that ends with the number of restarts. It cannot be changed: the flow is found by the
// hash of the whole.
func newState(try int) oauth.Secret {
	state := oauth.NewState()
	if try == 0 {
		return state
	}
	return oauth.Secret(state.Reveal() + "." + strconv.Itoa(try))
}

func parseTry(state string) int {
	_, number, _ := strings.Cut(state, ".")
	try, err := strconv.Atoi(number)
	if err != nil {
		return 0
	}
	return try
}
