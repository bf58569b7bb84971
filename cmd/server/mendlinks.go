package main

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
)

// mendLinks are the pages on which a person connects the account that an agent's call misses. An agent that calls again and again is
// given the same one for a while.
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
	url   string
	until time.Time
}

const (
	mendLinkLife  = 5 * time.Minute
	mostMendLinks = 10_000
)

func (h *house) mendLinks() *mendLinks {
	return &mendLinks{house: h, made: map[mended]mendLink{}}
}

// link is where a missing account is connected; empty: nowhere. That of one agent is connected by whoever is sent the page. That of
// all agents is none of one agent's users: it is connected in the dashboard.
func (m *mendLinks) link(ctx context.Context, t connectors.TenantID, c connectors.Connector, a connectors.Agent) string {
	switch {
	case c.Auth.Type != connectors.AuthOAuth2 || c.CredentialMode != connectors.CredentialPerAgent:
		return m.house.baseURL.JoinPath("connectors", c.Slug, "credentials").String()
	default:
		return m.page(ctx, t, c, a)
	}
}

func (m *mendLinks) page(ctx context.Context, t connectors.TenantID, c connectors.Connector, a connectors.Agent) string {
	key := mended{c.ID, a.ID}
	if url := m.known(key); url != "" {
		return url
	}
	who := auth.Actor{Kind: auth.KindAgent, Tenant: connectors.Tenant{ID: t}, Role: connectors.RoleMember, Name: a.Name}
	ref := connectors.Ref(a.ID.String())
	link, err := m.house.connect.Link(ctx, who, connectors.Ref(c.ID.String()), &ref, "")
	if err != nil {
		m.house.serving.log.WarnContext(ctx, "no link to connect an account", slog.String("connector_id", c.ID.String()), slog.Any("error", err))
		return ""
	}
	m.keep(key, link.URL)
	return link.URL
}

func (m *mendLinks) known(key mended) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if l := m.made[key]; time.Now().Before(l.until) {
		return l.url
	}
	return ""
}

func (m *mendLinks) keep(key mended, url string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.made) >= mostMendLinks {
		clear(m.made)
	}
	m.made[key] = mendLink{url: url, until: time.Now().Add(mendLinkLife)}
}
