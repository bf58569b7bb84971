package upstream

import (
	"crypto/sha256"

	"patchbay/internal/connectors"
	"patchbay/internal/credentials"
)

// byIDPrefix begins the account of a key for requests by id. No name has it.
const byIDPrefix = "#"

// credentialKey identifies a credential by connector and owner.
type credentialKey struct {
	tenant    connectors.TenantID
	connector connectors.ConnectorID
	agent     connectors.AgentID // owner of the credential; zero: shared, or none
	account   string             // its name, or byIDPrefix and its id; empty: the owner's only one
	ofSyncs   bool               // of a request for no agent: the account that syncs use
}

// sessionKey identifies a session: one is open at a time.
type sessionKey struct {
	credentialKey
	capabilities string
	private      connectors.AgentID // zero: the session is shared by all users of the credential
	resumed      [sha256.Size]byte  // of SessionRequest.Resume; zero: the session was opened here
}

// sessionVersion is what a session was opened with. It holds no secret.
type sessionVersion struct {
	connectorVersion int
	credential       connectors.CredentialID // zero: none
	revision         int                     // of the credential
	era              string                  // the remembered one
}

func newCredentialKey(w *SessionRequest) credentialKey {
	key := credentialKey{tenant: w.Tenant, connector: w.Connector.ID}
	if w.Account.Agent != nil && w.Connector.CredentialMode == connectors.CredentialPerAgent && w.Connector.Auth.Type != connectors.AuthNone {
		key.agent = *w.Account.Agent
	}
	if w.Connector.Auth.Type != connectors.AuthNone {
		key.account, key.ofSyncs = w.Account.Name, w.Account == credentials.Account{}
		if w.ByID {
			key.account = byIDPrefix + w.Pinned.String()
		}
	}
	return key
}

// sessionKey returns the key of the requested session. The caller holds mu.
func (p *Pool) sessionKey(w *SessionRequest) sessionKey {
	if w.ByID { // the account's session may be open for its name
		named := *w
		named.ByID = false
		if key := p.sessionKey(&named); p.sessions[key] != nil && p.sessions[key].version.credential == w.Pinned {
			return key
		}
	}
	key := sessionKey{credentialKey: newCredentialKey(w), capabilities: w.Capabilities}
	if w.Account.Agent != nil && (w.PerAgent || w.Connector.SessionPerAgent && p.stateless[w.Connector.ID] != w.Connector.Version) {
		key.private = *w.Account.Agent
	}
	if w.Resume == "" {
		return key
	}
	if e := p.sessions[key]; e != nil && e.era != "" && e.session.Token() == w.Resume {
		return key
	}
	key.resumed = sha256.Sum256([]byte(w.Resume))
	return key
}

// recordState notes whether a connector's server keeps state for a session. If it keeps none, the session is for all
// agents from now on. The caller holds mu.
func (p *Pool) recordState(e *entry) {
	c := &e.request.Connector
	if e.session.IsStateful() {
		delete(p.stateless, c.ID)
		return
	}
	if len(p.stateless) >= p.o.MaxSessions {
		return
	}
	p.stateless[c.ID] = c.Version
	if shared := p.sessionKey(&e.request); !e.retired && p.sessions[shared] == nil {
		delete(p.sessions, e.key)
		e.key = shared
		p.sessions[shared] = e
	}
}

func newSessionVersion(w *SessionRequest, u *credentials.Credential) sessionVersion {
	version := sessionVersion{connectorVersion: w.Connector.Version, era: w.Connector.Era}
	if u != nil {
		version.credential, version.revision = u.ID, u.Revision
	}
	return version
}

// isCompatible reports whether requests in a session of the old version may finish: only the token was
// refreshed, or the era learnt.
func (v sessionVersion) isCompatible(old sessionVersion, u *credentials.Credential) bool {
	return v.connectorVersion == old.connectorVersion && v.credential == old.credential &&
		(v.revision == old.revision || u != nil && u.Refreshed)
}

// isOlder reports whether the credential was read before the session's.
func (v sessionVersion) isOlder(now sessionVersion) bool {
	return v.connectorVersion == now.connectorVersion && v.credential == now.credential && v.revision < now.revision
}
