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
	linkLife = 24 * time.Hour
	openTime = 5 * time.Second // of the servers, before a page is shown without them
)

// typeLink is the actor type of what somebody does who was sent a link. The name is that of the link's maker.
const typeLink = "link"

// Link is a page of ours for the person who owns an account.
type Link struct {
	URL       string // whoever has it may connect an account, once
	ExpiresAt time.Time
	SignIn    bool // URL opens nothing by itself: the page asks whoever comes for a sign-in
}

// Link makes a page that may be sent to the person who owns the account: it needs no sign-in and works once, within a day. A person has to have
// confirmed who they are. It is Denied for an agent that a member has: what that uses is the member's own account, and nobody is talked into
// giving it theirs.
func (b *Broker) Link(ctx context.Context, a auth.Actor, c connectors.Ref, agent *connectors.Ref, returnTo string) (Link, error) {
	if err := a.Require(connectors.PermOperate); err != nil {
		return Link{}, err
	}
	p, err := find(ctx, b.tenant(a.Tenant.ID), a.Tenant.ID, c, agent)
	if err != nil {
		return Link{}, err
	}
	m, err := b.member(ctx, p)
	switch {
	case err != nil:
		return Link{}, err
	case m != nil:
		return Link{}, fault.Errorf(fault.Denied, "This agent belongs to %s, and only they connect their accounts to it. They do that here: %s", m.DisplayName(), b.ownPage(p))
	}
	if err := a.RequireConfirmed(b.now()); err != nil {
		return Link{}, err
	}
	bits := make([]byte, 32)
	_, _ = rand.Read(bits) // never fails: crypto/rand ends the program instead
	token := base64.RawURLEncoding.EncodeToString(bits)
	l := Link{URL: b.baseURL + linkPath + token, ExpiresAt: b.now().Add(linkLife)}
	err = b.keepLink(ctx, a, p, store.NewConnectLink{
		TokenHash: linkHash(secret.Text(token)), ConnectorID: p.connector.ID, AgentID: p.agentID(), MadeBy: starter(a),
		ReturnTo: respond.OwnPath(returnTo, ""), ExpiresAt: l.ExpiresAt,
	})
	if err != nil {
		return Link{}, err
	}
	return l, nil
}

// keepLink stores a link, with the event that tells who gave it out.
func (b *Broker) keepLink(ctx context.Context, a auth.Actor, p place, l store.NewConnectLink) error {
	return b.tenant(p.tenant).Tx(ctx, func(tx *store.Tenant) error {
		if err := tx.SaveConnectLink(ctx, l); err != nil {
			return err
		}
		return tx.RecordChange(ctx, p.about(a.Event("connect_link.make", "")), nil, store.OfConnectLink(p.connector.ID, l.TokenHash))
	})
}

// Invitation is what the page of a link says.
type Invitation struct {
	Tenant          string
	Connector       string
	ConnectorURL    string
	Agent           string // empty: all of the tenant's agents
	MadeBy          string
	ExpiresAt       time.Time
	Server          string // the authorization server's host; empty: not known
	AuthorizeOrigin string // where the button leads in the end; empty: not known
	TokenHost       string // where Patchbay trades the answer for tokens, if that is not at the authorization server's origin; else empty
	Scopes          []string
	Problem         string // why it cannot be connected now; empty: it can
}

// Open reads the link of a page, and leaves it: looking is not taking. A link that was used or is over is NotFound. What is wrong
// with the servers stands in the Invitation.
func (b *Broker) Open(ctx context.Context, token secret.Text) (Invitation, error) {
	l, p, err := b.linked(ctx, token)
	if err != nil {
		return Invitation{}, err
	}
	tenant, err := b.tenant(l.Tenant).Self(ctx)
	if err != nil {
		return Invitation{}, err
	}
	i := Invitation{
		Tenant: tenant.Name, Connector: p.connector.Name, ConnectorURL: p.connector.URL, MadeBy: l.MadeBy.Name, ExpiresAt: l.ExpiresAt,
	}
	if p.agent != nil {
		i.Agent = p.agent.Name
	}
	ctx, cancel := context.WithTimeout(ctx, openTime)
	defer cancel()
	s, err := b.surveyOnce(ctx, p)
	if err == nil {
		_, err = b.howClient(ctx, s)
	}
	if err != nil {
		i.Problem = b.explain(err).Message
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

// Accept begins the connection of a link, for the browser that brings it. The servers are asked first: one that is down does not
// use the link up. Two at once: one of them is told that it was used.
func (b *Broker) Accept(ctx context.Context, token, browser secret.Text) (Started, error) {
	l, p, err := b.linked(ctx, token)
	if err != nil {
		return Started{}, err
	}
	by := l.MadeBy
	by.Type = typeLink
	began := store.Event{ActorType: by.Type, ActorID: by.ID, ActorName: by.Name, Action: actBegin}
	d, err := b.prepare(ctx, p, departing{by: by, began: &began, browserHash: browserHash(browser), returnTo: l.ReturnTo})
	if err != nil {
		return Started{}, err
	}
	if _, err := b.store.System().TakeConnectLink(ctx, linkHash(token)); err != nil {
		return Started{}, linkError(err)
	}
	return b.depart(ctx, d)
}

// linked finds a link that may be taken, and its place as it is now.
func (b *Broker) linked(ctx context.Context, token secret.Text) (store.ConnectLink, place, error) {
	l, err := b.store.System().ConnectLink(ctx, linkHash(token))
	if err != nil {
		return store.ConnectLink{}, place{}, linkError(err)
	}
	connector, agent := refs(l.ConnectorID, l.AgentID)
	p, err := find(ctx, b.tenant(l.Tenant), l.Tenant, connector, agent)
	if err != nil {
		return store.ConnectLink{}, place{}, err
	}
	return l, p, b.stands(ctx, b.tenant(l.Tenant), l.MadeBy, p)
}

func linkHash(token secret.Text) []byte {
	sum := sha256.Sum256([]byte(strings.TrimSpace(token.Reveal())))
	return sum[:]
}

func linkError(err error) error {
	if fault.Is(err, fault.NotFound) {
		return fault.Errorf(fault.NotFound, "This link has been used or has expired. Ask for a new one.")
	}
	return err
}
