package main

import (
	"context"
	"log/slog"
	"net/url"
	"sync"
	"time"

	"patchbay/internal/auth"
	"patchbay/internal/connect"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
)

// accountLinks create and cache the pages where a person connects the account that an agent's call misses.
// Repeated calls of an agent get the same link.
type accountLinks struct {
	app *app

	mu     sync.Mutex // guards cached
	cached map[accountLinkKey]accountLink
}

type accountLinkKey struct {
	connector connectors.ConnectorID
	agent     connectors.AgentID
	account   string
}

type accountLink struct {
	url       string // may be sent to the account's owner; empty: none
	page      string // for a person who is signed in
	expiresAt time.Time
}

const (
	accountLinkTTL  = 5 * time.Minute
	maxAccountLinks = 10_000
)

func (h *app) newAccountLinks() *accountLinks {
	return &accountLinks{app: h, cached: map[accountLinkKey]accountLink{}}
}

// linkFor returns the URL where a missing account is connected; empty: none. For a member's agent, that member
// connects it after a sign-in. For another agent, the person who gets the link does. A shared account is
// connected in the dashboard.
func (m *accountLinks) linkFor(ctx context.Context, t connectors.TenantID, c connectors.Connector, a connectors.Agent, account string) string {
	if c.CredentialMode != connectors.CredentialPerAgent {
		return m.dashboardURL(c)
	}
	return m.getLink(ctx, t, c, a, account).url
}

// pageFor returns the page where a person who is signed in connects the agent's account. The URL contains no
// secret.
func (m *accountLinks) pageFor(ctx context.Context, t connectors.TenantID, c connectors.Connector, a connectors.Agent, account string) string {
	if c.CredentialMode != connectors.CredentialPerAgent {
		return m.dashboardURL(c)
	}
	return m.getLink(ctx, t, c, a, account).page
}

func (m *accountLinks) dashboardURL(c connectors.Connector) string {
	return m.app.baseURL.JoinPath("connectors", c.Slug, "credentials").String()
}

func (m *accountLinks) getLink(ctx context.Context, t connectors.TenantID, c connectors.Connector, a connectors.Agent, account string) accountLink {
	key := accountLinkKey{connector: c.ID, agent: a.ID, account: account}
	if l, ok := m.cachedLink(key); ok {
		return l
	}
	l, err := m.createLink(ctx, t, c, a, account)
	if err != nil {
		m.app.run.log.WarnContext(ctx, "connect link not created", slog.String("connector_id", c.ID.String()), slog.Any("error", err))
		return l
	}
	m.cacheLink(key, l)
	return l
}

// createLink makes a link for the account with the name; empty: the agent's only one.
func (m *accountLinks) createLink(
	ctx context.Context, t connectors.TenantID, c connectors.Connector, a connectors.Agent, account string,
) (accountLink, error) {
	_, err := m.app.database.Store.Tenant(t).Accounts().AgentMember(ctx, a.ID)
	switch {
	case err == nil:
		own := m.app.baseURL.JoinPath("account", "connections", a.ID.String(), c.ID.String())
		if account != "" {
			own.RawQuery = url.Values{"account": {account}}.Encode()
		}
		return accountLink{url: own.String(), page: own.String()}, nil
	case !fault.Is(err, fault.NotFound):
		return accountLink{}, err
	}
	page := m.dashboardURL(c) + "#credential-" + a.Slug
	if c.Auth.Type != connectors.AuthOAuth2 {
		return accountLink{url: page, page: page}, nil
	}
	who := auth.Actor{Kind: auth.KindAgent, Tenant: connectors.Tenant{ID: t}, Role: connectors.RoleMember, Name: a.Name}
	ref := connectors.Ref(a.ID.String())
	link, err := m.app.connect.LinkFor(ctx, who, connect.StartRequest{Connector: connectors.Ref(c.ID.String()), Agent: &ref, Account: account})
	return accountLink{url: link.URL, page: page}, err
}

func (m *accountLinks) cachedLink(key accountLinkKey) (accountLink, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	l := m.cached[key]
	return l, time.Now().Before(l.expiresAt)
}

func (m *accountLinks) cacheLink(key accountLinkKey, l accountLink) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.cached) >= maxAccountLinks {
		clear(m.cached)
	}
	l.expiresAt = time.Now().Add(accountLinkTTL)
	m.cached[key] = l
}
