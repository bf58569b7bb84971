package connect

import (
	"context"
	"net/url"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
)

// Way is where the owner of an account connects it, for whoever may hand that on: a [Broker.Link]; where the agent is a member's, the page of that
// member; and for a person who has not confirmed who they are, as for a program of theirs, the connector's credentials in the dashboard. The pages
// ask for a sign-in, and their addresses open nothing by themselves.
func (b *Broker) Way(ctx context.Context, a auth.Actor, c connectors.Ref, agent *connectors.Ref, returnTo string) (Link, error) {
	if err := a.Require(connectors.PermOperate); err != nil {
		return Link{}, err
	}
	p, err := find(ctx, b.tenant(a.Tenant.ID), a.Tenant.ID, c, agent)
	if err != nil {
		return Link{}, err
	}
	confirmed := a.RequireConfirmed(b.now()) == nil
	page := Link{ExpiresAt: b.now().Add(linkLife), SignIn: true}
	m, err := b.member(ctx, p)
	switch {
	case err != nil:
		return Link{}, err
	case m != nil:
		page.URL = b.ownPage(p)
		return page, a.RequireUse(ctx, b.tenant(p.tenant), p.agent.ID)
	case !confirmed:
		page.URL = b.credentialsPage(p)
		return page, nil
	}
	return b.Link(ctx, a, c, agent, returnTo)
}

// ownPage is where the member whose agent it is connects an account to it.
func (b *Broker) ownPage(p place) string {
	return b.baseURL + "/account/connections/" + p.agent.ID.String() + "/" + p.connector.ID.String()
}

// credentialsPage is where the dashboard has the account.
func (b *Broker) credentialsPage(p place) string {
	page := b.baseURL + "/connectors/" + url.PathEscape(p.connector.Slug) + "/credentials"
	if p.agent != nil {
		page += "#credential-" + url.PathEscape(p.agent.Slug)
	}
	return page
}

func (b *Broker) member(ctx context.Context, p place) (*connectors.Member, error) {
	return member(ctx, b.tenant(p.tenant), p)
}

// member is whose the agent of a place is; nil: the organisation's own, or no agent's.
func member(ctx context.Context, tx *store.Tenant, p place) (*connectors.Member, error) {
	if p.agent == nil {
		return nil, nil
	}
	m, err := tx.AgentMember(ctx, p.agent.ID)
	switch {
	case fault.Is(err, fault.NotFound):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return &m, nil
}
