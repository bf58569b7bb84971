package upstream

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/credentials"
	"patchbay/internal/fault"
	"patchbay/internal/safe"
	"patchbay/internal/store"
)

const reviewTimeout = 30 * time.Second

// RecheckCredentials checks the credentials of a connector's open sessions in the background. A session ends at once if its
// credential was deleted or replaced, and after its requests if the token was only refreshed.
func (p *Pool) RecheckCredentials(t connectors.TenantID, id connectors.ConnectorID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var open []SessionRequest
	for key, e := range p.sessions {
		if key.tenant == t && key.connector == id && !p.stopped {
			open = append(open, e.request)
		}
	}
	if len(open) > 0 { // then background has not ended
		safe.GoIn(&p.background, safe.Upstream, func() {
			for i := range open {
				p.reviewSession(&open[i])
			}
		})
	}
}

// RecheckAgent retires an agent's sessions with another account than its grant binds, in the background.
func (p *Pool) RecheckAgent(t connectors.TenantID, agent connectors.AgentID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	isOfAgent := func(key sessionKey) bool { return key.tenant == t && (key.agent == agent || key.private == agent) }
	if !p.stopped && p.hasSession(isOfAgent) {
		safe.GoIn(&p.background, safe.Upstream, func() { p.reviewAgent(t, agent, isOfAgent) })
	}
}

func (p *Pool) reviewAgent(t connectors.TenantID, agent connectors.AgentID, isOfAgent func(sessionKey) bool) {
	ctx, cancel := context.WithTimeout(context.Background(), reviewTimeout)
	defer cancel()
	granted, err := p.o.Store.Tenant(t).Agents().GrantedConnectors(ctx, agent)
	if err != nil {
		return // the next use opens a session of the granted account
	}
	accounts := map[connectors.ConnectorID][]string{}
	for _, g := range granted {
		if g.Connector.Auth.Type != connectors.AuthNone {
			accounts[g.Connector.ID] = append(accounts[g.Connector.ID], g.Grant.Account())
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for key, e := range p.sessions {
		if bound := accounts[key.connector]; len(bound) > 0 && isOfAgent(key) && !slices.Contains(bound, key.account) && !strings.HasPrefix(key.account, byIDPrefix) {
			p.retireEntry(e, false)
		}
	}
}

// RecheckConnector retires a connector's sessions ([Pool.RetireConnector]) in the background, if it was deleted, disabled or
// changed since they were opened. What a sync stores, such as the era or capabilities, leaves them open.
func (p *Pool) RecheckConnector(t connectors.TenantID, id connectors.ConnectorID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.stopped && p.hasSession(func(key sessionKey) bool { return key.tenant == t && key.connector == id }) {
		safe.GoIn(&p.background, safe.Upstream, func() { p.reviewConnector(t, id) })
	}
}

// hasSession reports whether a session that may be used again has such a key. The caller holds mu.
func (p *Pool) hasSession(matches func(sessionKey) bool) bool {
	for key := range p.sessions {
		if matches(key) {
			return true
		}
	}
	return false
}

// reviewConnector retires all sessions if the connector cannot be read.
func (p *Pool) reviewConnector(t connectors.TenantID, id connectors.ConnectorID) {
	ctx, cancel := context.WithTimeout(context.Background(), reviewTimeout)
	defer cancel()
	now, err := p.o.Store.Tenant(t).Connectors().Get(ctx, connectors.Ref(id.String()))
	if err != nil || !now.Enabled {
		p.RetireConnector(t, id)
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for e := range p.live {
		if e.key.tenant == t && e.key.connector == id && e.version.connectorVersion < now.Version {
			p.retireEntry(e, false)
		}
	}
}

// endsAccount reports whether an error says that the use may have no account any more, or none by itself.
func endsAccount(err error) bool {
	f, ok := errors.AsType[*fault.Error](err)
	return ok && slices.Contains([]string{store.TypeAccountRequired, credentials.TypeAccountChanged, credentials.TypeManagedAccount}, f.Type)
}

// reviewSession ends a session that the next use would end. If the credential cannot be read, the next use
// checks it.
func (p *Pool) reviewSession(w *SessionRequest) {
	ctx, cancel := context.WithTimeout(context.Background(), reviewTimeout)
	defer cancel()
	u, err := p.resolveCredential(ctx, w)
	if endsAccount(err) {
		key := newCredentialKey(w)
		p.abortSessions(func(e *entry) bool { return e.key.credentialKey == key })
	}
	if err != nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	e, version := p.sessions[p.sessionKey(w)], newSessionVersion(w, u)
	if e != nil && !e.hasVersion(version) && e.version.connectorVersion == version.connectorVersion && !version.isOlder(e.version) {
		p.retireEntry(e, !version.isCompatible(e.version, u))
	}
}
