package connect

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"net/url"
	"strings"
	"time"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/respond"
	"patchbay/internal/secret"
	"patchbay/internal/store"
)

const (
	linkTTL     = 24 * time.Hour
	openTimeout = 5 * time.Second // of the servers, before the page is shown without their data
)

// typeLink is the actor type of a link's recipient. The name is that of the link's maker.
const typeLink = "link"

// Link is a page for the person that owns an account.
type Link struct {
	URL       string // lets its holder connect an account, once
	ExpiresAt time.Time
	SignIn    bool // the page requires a sign-in
}

// Link makes a page to send to the account's owner: it needs no sign-in and works once within a day. The actor
// must have re-authenticated. It is Denied for a member's agent, which uses the member's own account: another
// person must not be tricked into connecting theirs.
func (b *Broker) Link(ctx context.Context, a auth.Actor, c connectors.Ref, agent *connectors.Ref, returnTo string) (Link, error) {
	return b.LinkFor(ctx, a, StartRequest{Connector: c, Agent: agent, ReturnTo: returnTo})
}

// LinkFor is Link for the account of a request.
func (b *Broker) LinkFor(ctx context.Context, a auth.Actor, o StartRequest) (Link, error) {
	if err := a.Require(connectors.PermOperate); err != nil {
		return Link{}, err
	}
	p, err := findTarget(ctx, b.tenantStore(a.Tenant.ID), a.Tenant.ID, o.Connector, o.Agent)
	if err != nil {
		return Link{}, err
	}
	m, err := b.findMember(ctx, p)
	switch {
	case err != nil:
		return Link{}, err
	case m != nil:
		return Link{}, fault.Errorf(fault.Denied, "Only %s can connect accounts to this agent, here: %s", m.DisplayName(), b.memberPage(p))
	}
	if err := a.RequireRecentAuth(b.now()); err != nil {
		return Link{}, err
	}
	if err := b.nameAccount(ctx, &p, o.Account); err != nil {
		return Link{}, err
	}
	bits := make([]byte, 32)
	_, _ = rand.Read(bits) // never fails: crypto/rand aborts the program instead
	token := base64.RawURLEncoding.EncodeToString(bits)
	l := Link{URL: b.baseURL + linkPath + token, ExpiresAt: b.now().Add(linkTTL)}
	err = b.storeLink(ctx, a, p, store.NewConnectLink{
		TokenHash: linkHash(secret.Text(token)), ConnectorID: p.connector.ID, AgentID: p.agentID(), Account: p.account, AccountID: p.accountID, MadeBy: newStarter(a),
		ReturnTo: respond.OwnPath(o.ReturnTo, ""), ExpiresAt: l.ExpiresAt,
	})
	if err != nil {
		return Link{}, err
	}
	return l, nil
}

// storeLink stores a link with its audit event.
func (b *Broker) storeLink(ctx context.Context, a auth.Actor, p target, l store.NewConnectLink) error {
	return b.tenantStore(p.tenant).Tx(ctx, func(tx *store.Tenant) error {
		if err := tx.Accounts().SaveConnectLink(ctx, l); err != nil {
			return err
		}
		return tx.RecordChange(ctx, p.describeEvent(a.Event("connect_link.make", "")), nil, store.OfConnectLink(p.connector.ID, l.TokenHash))
	})
}

// LinkPage is the content of a link's page.
type LinkPage struct {
	Tenant          string
	Connector       string
	CredentialURL   string // address of the server that gets the credential
	Agent           string // empty: all of the tenant's agents
	Account         string // its name among those of its owner; empty: the only one
	MadeBy          string
	ExpiresAt       time.Time
	Server          string // authorization server's host; empty: unknown
	AuthorizeOrigin string // origin of the authorization endpoint; empty: unknown
	TokenHost       string // host of the token endpoint if its origin differs from the authorization server's
	Scopes          []string
	Problem         string // why it cannot be connected now; empty: it can
}

// ReadLink reads a link without using it. A used or expired link is NotFound. Failures of servers are in the
// Invitation.
func (b *Broker) ReadLink(ctx context.Context, token secret.Text) (LinkPage, error) {
	l, p, err := b.findLinkTarget(ctx, token)
	if err != nil {
		return LinkPage{}, err
	}
	tenant, err := b.tenantStore(l.Tenant).Self(ctx)
	if err != nil {
		return LinkPage{}, err
	}
	i := LinkPage{
		Tenant: tenant.Name, Connector: p.connector.Name, CredentialURL: p.connector.CredentialURL(), MadeBy: l.MadeBy.Name, ExpiresAt: l.ExpiresAt, Account: p.shownAccount(),
	}
	if p.agent != nil {
		i.Agent = p.agent.Name
	}
	ctx, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	s, err := b.surveyOnce(ctx, p)
	if err == nil {
		_, err = b.describeClient(ctx, s)
	}
	if err != nil {
		i.Problem = b.toFault(err).Message
		return i, nil
	}
	i.Scopes = s.scopes
	if u, err := url.Parse(s.discovery.Server.AuthorizationEndpoint); err == nil && u.Host != "" {
		i.Server, i.AuthorizeOrigin = u.Hostname(), u.Scheme+"://"+u.Host
	}
	if m := s.discovery.Server; m.HasForeignTokenEndpoint() {
		if u, err := url.Parse(m.TokenEndpoint); err == nil {
			i.TokenHost = u.Host
		}
	}
	return i, nil
}

// AcceptLink starts the connection of a link for a browser. The servers are contacted first, so that an outage does
// not use up the link. Of two concurrent calls one fails.
func (b *Broker) AcceptLink(ctx context.Context, token, browser secret.Text) (Authorization, error) {
	l, p, err := b.findLinkTarget(ctx, token)
	if err != nil {
		return Authorization{}, err
	}
	by := l.MadeBy
	by.Type = typeLink
	began := store.Event{ActorType: by.Type, ActorID: by.ID, ActorName: by.Name, Action: actBegin}
	d, err := b.prepareFlow(ctx, p, flowRequest{by: by, began: &began, browserHash: browserHash(browser), returnTo: l.ReturnTo})
	if err != nil {
		return Authorization{}, err
	}
	if _, err := b.store.System().Sessions().TakeConnectLink(ctx, linkHash(token)); err != nil {
		return Authorization{}, linkError(err)
	}
	return b.storeFlow(ctx, d)
}

// findLinkTarget finds a valid link and its current target.
func (b *Broker) findLinkTarget(ctx context.Context, token secret.Text) (store.ConnectLink, target, error) {
	l, err := b.store.System().Sessions().ConnectLink(ctx, linkHash(token))
	if err != nil {
		return store.ConnectLink{}, target{}, linkError(err)
	}
	connector, agent := toRefs(l.ConnectorID, l.AgentID)
	p, err := findTarget(ctx, b.tenantStore(l.Tenant), l.Tenant, connector, agent)
	if err != nil {
		return store.ConnectLink{}, target{}, err
	}
	p.account, p.accountID = l.Account, l.AccountID
	if err := b.recheckLink(ctx, b.tenantStore(l.Tenant).Accounts(), l.MadeBy, p); err != nil {
		return l, p, err
	}
	return l, p, checkLinkAccount(ctx, b.tenantStore(l.Tenant), p)
}

func linkHash(token secret.Text) []byte {
	sum := sha256.Sum256([]byte(strings.TrimSpace(token.Reveal())))
	return sum[:]
}

func linkError(err error) error {
	if fault.Is(err, fault.NotFound) {
		return fault.Errorf(fault.NotFound, "Link used or expired. Ask for a new one.")
	}
	return err
}
