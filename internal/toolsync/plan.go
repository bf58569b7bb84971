package toolsync

import (
	"context"

	"patchbay/internal/connectors"
	"patchbay/internal/credentials"
	"patchbay/internal/store"
)

// attempt is one session to try, with a credential or without (nil). The next attempt follows only if the
// server asks for a credential.
type attempt struct {
	credential *credentials.Credential
	env        connectors.Environment // of a stdio program
	entered    connectors.Secret      // of a test; empty: none
	stored     connectors.ConnectorID // that a test changes; zero: none
}

// planAttempts chooses the credentials to try, in order:
//
//	stdio program              its environment
//	auth none                  anonymous
//	shared                     the shared one for syncs; none stored: anonymous, for some servers list without a credential
//	per agent, agent named     that agent's own; none stored: an error, and never another agent's
//	per agent, no agent        anonymous, then the one for syncs, else the one used last; that one first if the last sync got a 401
func (s *Syncer) planAttempts(
	ctx context.Context, tenant connectors.TenantID, c connectors.Connector, agent *connectors.AgentID,
) ([]attempt, error) {
	anonymous := attempt{}
	if c.Transport == connectors.TransportStdio {
		env, err := s.credentials.Environment(ctx, tenant, c)
		return []attempt{{env: env}}, err
	}
	if c.Auth.Type == connectors.AuthNone {
		return []attempt{anonymous}, nil
	}
	if c.CredentialMode == connectors.CredentialPerAgent && agent != nil {
		return s.planOfAgent(ctx, tenant, c, *agent)
	}
	credential, err := s.credentials.ResolveForSync(ctx, tenant, c)
	switch {
	case err != nil:
		return nil, err
	case credential == nil:
		return []attempt{anonymous}, nil
	case c.CredentialMode == connectors.CredentialShared, c.AuthBehaviour == connectors.AuthAll:
		return []attempt{{credential: credential}}, nil
	default:
		return []attempt{anonymous, {credential: credential}}, nil
	}
}

// planOfAgent chooses the account of the agent's grant.
func (s *Syncer) planOfAgent(
	ctx context.Context, tenant connectors.TenantID, c connectors.Connector, agent connectors.AgentID,
) ([]attempt, error) {
	account, id, err := s.agentAccount(ctx, tenant, c, agent)
	if err != nil {
		return nil, err
	}
	return s.planWith(ctx, tenant, c, account, id)
}

// planWith chooses an account of an agent; id zero: the one with the name.
func (s *Syncer) planWith(
	ctx context.Context, tenant connectors.TenantID, c connectors.Connector, account credentials.Account, id connectors.CredentialID,
) ([]attempt, error) {
	credential, err := s.credentials.Resolve(ctx, tenant, c, account)
	switch {
	case err != nil:
		return nil, err
	case credential == nil:
		return nil, s.credentials.ExplainMissing(ctx, tenant, c, account)
	case id != connectors.CredentialID{} && credential.ID != id: // another one took the name meanwhile
		return nil, credentials.NewAccountChanged(c)
	default:
		return []attempt{{credential: credential}}, nil
	}
}

// agentAccount returns the account of the agent's grant.
func (s *Syncer) agentAccount(
	ctx context.Context, tenant connectors.TenantID, c connectors.Connector, agent connectors.AgentID,
) (of credentials.Account, id connectors.CredentialID, err error) {
	err = s.store.Tenant(tenant).Snapshot(ctx, func(tx *store.Tenant) error {
		of, id, err = credentials.FindAccount(ctx, tx, c, &agent)
		return err
	})
	return of, id, err
}

// authBehaviour derives from an attempt how the server authenticates; empty: unknown. A list alone does not
// show whether calls need a credential, so a connector with one counts as AuthListOpen.
func authBehaviour(c connectors.Connector, a attempt, unauthorized bool) connectors.AuthBehaviour {
	switch {
	case a.credential != nil:
		return ""
	case unauthorized:
		return connectors.AuthAll
	case c.Auth.Type == connectors.AuthNone:
		return connectors.AuthOpen
	default:
		return connectors.AuthListOpen
	}
}
