package store_test

import (
	"context"
	"testing"

	"github.com/google/uuid"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
)

// accessAttempts are the outsider's at tokens, grants, and what an agent may see.
var accessAttempts = map[string]attempt{
	"Access": func(ctx context.Context, o outsider) (bool, error) { return one(o.door.Access(ctx, o.agent.ID)) },
	"GrantedConnectors": func(ctx context.Context, o outsider) (bool, error) {
		all, err := o.door.GrantedConnectors(ctx, o.agent.ID)
		return len(all) > 0, err
	},
	"AcceptedDefinitions": func(ctx context.Context, o outsider) (bool, error) {
		all, err := o.door.AcceptedDefinitions(ctx, []connectors.Hash{fixture.Definition("search").Hash}, store.MaxServedBytes)
		return len(all) > 0, err
	},
	"CredentialFor": func(ctx context.Context, o outsider) (bool, error) {
		return one(o.door.CredentialFor(ctx, o.connector.ID, &o.agent.ID))
	},
	"AgentTokens": func(ctx context.Context, o outsider) (bool, error) {
		return some(o.door.AgentTokens(ctx, o.agent.ID, store.Page{}))
	},
	"CreateAgentToken": func(ctx context.Context, o outsider) (bool, error) {
		return one(o.door.CreateAgentToken(ctx, store.NewAgentToken{
			ID: connectors.AgentTokenID{UUID: uuid.Must(uuid.NewV7())}, AgentID: o.agent.ID, SecretMAC: []byte("mine"),
		}))
	},
	"DeleteAgentToken": func(ctx context.Context, o outsider) (bool, error) {
		mine := o.AgentIn(o.t, o.Other)
		_, err := o.door.DeleteAgentToken(ctx, mine.ID, o.token.ID)
		if !fault.Is(err, fault.NotFound) {
			return true, err
		}
		return one(o.door.DeleteAgentToken(ctx, o.agent.ID, o.token.ID))
	},
	"AgentGrants": func(ctx context.Context, o outsider) (bool, error) {
		return some(o.door.AgentGrants(ctx, o.agent.ID, store.Page{}))
	},
	"AgentGrant": func(ctx context.Context, o outsider) (bool, error) {
		return one(o.door.AgentGrant(ctx, o.agent.ID, o.connector.ID))
	},
	"SetAgentGrant": func(ctx context.Context, o outsider) (_ bool, err error) {
		mine := o.AgentIn(o.t, o.Other)
		for _, agent := range []connectors.AgentID{mine.ID, o.agent.ID} {
			err = o.door.SetAgentGrant(ctx, connectors.Grant{AgentID: agent, ConnectorID: o.connector.ID, AllTools: true})
			if !fault.Is(err, fault.NotFound) {
				return true, err
			}
		}
		return false, err
	},
	"DropAgentGrant": func(ctx context.Context, o outsider) (bool, error) {
		return true, o.door.DropAgentGrant(ctx, o.agent.ID, o.connector.ID)
	},
}

// fillAccess gives the victim's agent a token and a grant.
func (o *outsider) fillAccess(t *testing.T) {
	t.Helper()
	_, o.token = o.TokenIn(t, o.Tenant, o.agent.ID)
	o.t = t
	o.Grant(t, o.agent.ID, o.connector.ID)
}
