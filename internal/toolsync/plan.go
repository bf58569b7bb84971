package toolsync

import (
	"context"

	"patchbay/internal/connectors"
	"patchbay/internal/credentials"
)

// attempt is one conversation to have: with a credential, or openly (nil). The next attempt follows only where the server
// asks for a credential.
type attempt struct {
	credential *credentials.Usable
	env        connectors.Environment // of a program
}

// plan chooses whose credential is tried, and in which order:
//
//	a program                  with its environment
//	auth none                  openly
//	shared                     the shared one; none stored: openly, for some servers list to anybody
//	per agent, agent named     that agent's own; none stored: an error, and never another's
//	per agent, no agent        openly, then with the one used last; that one at once where the server asked for a
//	                           credential at the last sync
func (s *Syncer) plan(
	ctx context.Context, tenant connectors.TenantID, c connectors.Connector, agent *connectors.AgentID,
) ([]attempt, error) {
	openly := attempt{}
	if c.Transport == connectors.TransportStdio {
		env, err := s.credentials.Environment(ctx, tenant, c)
		return []attempt{{env: env}}, err
	}
	if c.Auth.Type == connectors.AuthNone {
		return []attempt{openly}, nil
	}
	if c.CredentialMode == connectors.CredentialShared || agent != nil {
		u, err := s.credentials.Of(ctx, tenant, c, agent)
		switch {
		case err != nil:
			return nil, err
		case u != nil:
			return []attempt{{credential: u}}, nil
		case c.CredentialMode == connectors.CredentialShared:
			return []attempt{openly}, nil
		default:
			return nil, s.credentials.WhyMissing(ctx, tenant, c, agent)
		}
	}
	last, err := s.credentials.LastUsed(ctx, tenant, c)
	switch {
	case err != nil:
		return nil, err
	case last == nil:
		return []attempt{openly}, nil
	case c.AuthBehaviour == connectors.AuthAll:
		return []attempt{{credential: last}}, nil
	default:
		return []attempt{openly, {credential: last}}, nil
	}
}

// behaviour is what an attempt's outcome tells of the server; empty: nothing. A list alone cannot tell a server that asks
// for nothing from one that asks at a call, so that a connector with a credential counts as the latter.
func behaviour(c connectors.Connector, a attempt, unauthorized bool) connectors.AuthBehaviour {
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
