package connect

import (
	"context"
	"net/url"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
)

// LinkOrPage returns where the account's owner connects it: a [Broker.Link]; for a member's agent that member's
// page; for an actor without re-authentication, as an OAuth client, the connector's credentials page. The pages
// require a sign-in, and their URLs hold no secret.
func (b *Broker) LinkOrPage(ctx context.Context, a auth.Actor, c connectors.Ref, agent *connectors.Ref, returnTo string) (Link, error) {
	return b.LinkOrPageFor(ctx, a, StartRequest{Connector: c, Agent: agent, ReturnTo: returnTo})
}

// LinkOrPageFor is LinkOrPage for the account of a request.
func (b *Broker) LinkOrPageFor(ctx context.Context, a auth.Actor, o StartRequest) (Link, error) {
	if err := a.Require(connectors.PermOperate); err != nil {
		return Link{}, err
	}
	p, err := findTarget(ctx, b.tenantStore(a.Tenant.ID), a.Tenant.ID, o.Connector, o.Agent)
	if err != nil {
		return Link{}, err
	}
	confirmed := a.RequireRecentAuth(b.now()) == nil
	page := Link{ExpiresAt: b.now().Add(linkTTL), SignIn: true}
	m, err := b.findMember(ctx, p)
	switch {
	case err != nil:
		return Link{}, err
	case m != nil:
		page.URL = b.memberPage(p)
		return page, a.RequireUse(ctx, b.tenantStore(p.tenant).Accounts(), p.agent.ID)
	case !confirmed:
		page.URL = b.credentialsPage(p)
		return page, nil
	}
	return b.LinkFor(ctx, a, o)
}

// memberPage returns the page on which the agent's member connects an account.
func (b *Broker) memberPage(p target) string {
	return b.baseURL + "/account/connections/" + p.agent.ID.String() + "/" + p.connector.ID.String()
}

// credentialsPage returns the dashboard's page of the account.
func (b *Broker) credentialsPage(p target) string {
	page := b.baseURL + "/connectors/" + url.PathEscape(p.connector.Slug) + "/credentials"
	if p.agent != nil {
		page += "#credential-" + url.PathEscape(p.agent.Slug)
	}
	return page
}

func (b *Broker) findMember(ctx context.Context, p target) (*connectors.Member, error) {
	return agentMember(ctx, b.tenantStore(p.tenant).Accounts(), p)
}

// agentMember returns the member that owns the target's agent; nil: the tenant's agent, or none.
func agentMember(ctx context.Context, tx store.Accounts, p target) (*connectors.Member, error) {
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
