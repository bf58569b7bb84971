package upstream

import (
	"patchbay/internal/connectors"
	"patchbay/internal/credentials"
)

// owner is whose credential is sent, and where.
type owner struct {
	tenant    connectors.TenantID
	connector connectors.ConnectorID
	agent     connectors.AgentID // of the credential; zero: it is shared, or there is none
}

// place is what has one session at a time.
type place struct {
	owner
	capabilities string
	private      connectors.AgentID // zero: it serves all who send the same credential
}

// edition is what a session was opened with. Nothing in it is secret.
type edition struct {
	settings   int                     // the connector's version
	credential connectors.CredentialID // zero: none
	revision   int                     // of the credential
	era        string                  // as remembered
}

func ownerOf(w *Want) owner {
	at := owner{tenant: w.Tenant, connector: w.Connector.ID}
	if w.Agent != nil && w.Connector.CredentialMode == connectors.CredentialPerAgent && w.Connector.Auth.Type != connectors.AuthNone {
		at.agent = *w.Agent
	}
	return at
}

func placeOf(w *Want) place {
	at := place{owner: ownerOf(w), capabilities: w.Capabilities}
	if w.Private && w.Agent != nil {
		at.private = *w.Agent
	}
	return at
}

func editionOf(w *Want, u *credentials.Usable) edition {
	ed := edition{settings: w.Connector.Version, era: w.Connector.Era}
	if u != nil {
		ed.credential, ed.revision = u.ID, u.Revision
	}
	return ed
}

// continues tells whether ed differs from old in nothing that makes what is under way there wrong: the token was renewed, or the era
// was learnt.
func (ed edition) continues(old edition, u *credentials.Usable) bool {
	return ed.settings == old.settings && ed.credential == old.credential &&
		(ed.revision == old.revision || u != nil && u.Renewed)
}

// outdated tells whether the credential was read before that of the session that is there.
func (ed edition) outdated(now edition) bool {
	return ed.settings == now.settings && ed.credential == now.credential && ed.revision < now.revision
}
