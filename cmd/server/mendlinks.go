package main

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
)

// mendLinks are the pages on which a person connects the account that an agent's call misses. An agent that calls again and again is
// given the same ones for a while.
type mendLinks struct {
	house *house

	mu   sync.Mutex // guards made
	made map[mended]mendLink
}

type mended struct {
	connector connectors.ConnectorID
	agent     connectors.AgentID
}

type mendLink struct {
	url   string // may be sent to whoever owns the account; empty: there is none
	page  string // for whoever signs in
	until time.Time
}

const (
	mendLinkLife  = 5 * time.Minute
	mostMendLinks = 10_000
)

func (h *house) mendLinks() *mendLinks {
	return &mendLinks{house: h, made: map[mended]mendLink{}}
}

// link is where a missing account is connected; empty: nowhere. That of an agent which belongs to a member is connected by that member, after a
// sign-in, that of another agent by whoever is sent the page. That of all agents is none of one agent's users: it is connected in the dashboard.
func (m *mendLinks) link(ctx context.Context, t connectors.TenantID, c connectors.Connector, a connectors.Agent) string {
	if c.CredentialMode != connectors.CredentialPerAgent {
		return m.dashboard(c)
	}
	return m.of(ctx, t, c, a).url
}

// page is where whoever signs in connects the account that an agent uses. Its address opens nothing by itself.
func (m *mendLinks) page(ctx context.Context, t connectors.TenantID, c connectors.Connector, a connectors.Agent) string {
	if c.CredentialMode != connectors.CredentialPerAgent {
		return m.dashboard(c)
	}
	return m.of(ctx, t, c, a).page
}

func (m *mendLinks) dashboard(c connectors.Connector) string {
	return m.house.baseURL.JoinPath("connectors", c.Slug, "credentials").String()
}

func (m *mendLinks) of(ctx context.Context, t connectors.TenantID, c connectors.Connector, a connectors.Agent) mendLink {
	key := mended{c.ID, a.ID}
	if l, ok := m.known(key); ok {
		return l
	}
	l, err := m.make(ctx, t, c, a)
	if err != nil {
		m.house.serving.log.WarnContext(ctx, "no link to connect an account", slog.String("connector_id", c.ID.String()), slog.Any("error", err))
		return l
	}
	m.keep(key, l)
	return l
}

func (m *mendLinks) make(ctx context.Context, t connectors.TenantID, c connectors.Connector, a connectors.Agent) (mendLink, error) {
	_, err := m.house.database.store.Tenant(t).AgentMember(ctx, a.ID)
	switch {
	case err == nil:
		own := m.house.baseURL.JoinPath("account", "connections", a.ID.String(), c.ID.String()).String()
		return mendLink{url: own, page: own}, nil
	case !fault.Is(err, fault.NotFound):
		return mendLink{}, err
	}
	page := m.dashboard(c) + "#credential-" + a.Slug
	if c.Auth.Type != connectors.AuthOAuth2 {
		return mendLink{url: page, page: page}, nil
	}
	who := auth.Actor{Kind: auth.KindAgent, Tenant: connectors.Tenant{ID: t}, Role: connectors.RoleMember, Name: a.Name}
	ref := connectors.Ref(a.ID.String())
	link, err := m.house.connect.Link(ctx, who, connectors.Ref(c.ID.String()), &ref, "")
	return mendLink{url: link.URL, page: page}, err
}

func (m *mendLinks) known(key mended) (mendLink, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	l := m.made[key]
	return l, time.Now().Before(l.until)
}

func (m *mendLinks) keep(key mended, l mendLink) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.made) >= mostMendLinks {
		clear(m.made)
	}
	l.until = time.Now().Add(mendLinkLife)
	m.made[key] = l
}
