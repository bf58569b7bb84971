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
	"Agents.Access": func(ctx context.Context, o outsider) (bool, error) {
		return one(o.door.Agents().Access(ctx, o.agent.ID))
	},
	"Agents.GrantedConnectors": func(ctx context.Context, o outsider) (bool, error) {
		all, err := o.door.Agents().GrantedConnectors(ctx, o.agent.ID)
		return len(all) > 0, err
	},
	"Agents.AcceptedDefinitions": func(ctx context.Context, o outsider) (bool, error) {
		all, err := o.door.Agents().AcceptedDefinitions(ctx, []connectors.Hash{fixture.Definition("search").Hash}, store.MaxServedBytes)
		return len(all) > 0, err
	},
	"Agents.CredentialFor": func(ctx context.Context, o outsider) (bool, error) {
		return one(o.door.Agents().CredentialFor(ctx, o.connector.ID, &o.agent.ID, ""))
	},
	"Agents.Tokens": func(ctx context.Context, o outsider) (bool, error) {
		return some(o.door.Agents().Tokens(ctx, o.agent.ID, store.Page{}))
	},
	"Agents.CreateToken": func(ctx context.Context, o outsider) (bool, error) {
		return one(o.door.Agents().CreateToken(ctx, store.NewAgentToken{
			ID: connectors.AgentTokenID{UUID: uuid.Must(uuid.NewV7())}, AgentID: o.agent.ID, SecretMAC: []byte("mine"),
		}))
	},
	"Agents.DeleteToken": func(ctx context.Context, o outsider) (bool, error) {
		mine := o.AgentIn(o.t, o.Other)
		_, err := o.door.Agents().DeleteToken(ctx, mine.ID, o.token.ID)
		if !fault.Is(err, fault.NotFound) {
			return true, err
		}
		return one(o.door.Agents().DeleteToken(ctx, o.agent.ID, o.token.ID))
	},
	"Agents.Grants": func(ctx context.Context, o outsider) (bool, error) {
		return some(o.door.Agents().Grants(ctx, o.agent.ID, store.Page{}))
	},
	"Agents.Grant": func(ctx context.Context, o outsider) (bool, error) {
		return one(o.door.Agents().Grant(ctx, o.agent.ID, o.connector.ID))
	},
	"Agents.SetGrant": func(ctx context.Context, o outsider) (_ bool, err error) {
		mine := o.AgentIn(o.t, o.Other)
		for _, agent := range []connectors.AgentID{mine.ID, o.agent.ID} {
			err = o.door.Agents().SetGrant(ctx, connectors.Grant{AgentID: agent, ConnectorID: o.connector.ID, AllTools: true})
			if !fault.Is(err, fault.NotFound) {
				return true, err
			}
		}
		return false, err
	},
	"Tools.PinnedElsewhere": func(ctx context.Context, o outsider) (bool, error) {
		pinned, err := o.door.Tools().PinnedElsewhere(ctx, o.agent.ID, connectors.ConnectorID{})
		return pinned > 0, err
	},
	"Agents.SetShaping": func(ctx context.Context, o outsider) (bool, error) {
		return true, o.door.Agents().SetShaping(ctx, o.agent.ID, o.connector.ID, "search", connectors.Shaping{Budget: 1000})
	},
	"Agents.DropGrant": func(ctx context.Context, o outsider) (bool, error) {
		return true, o.door.Agents().DropGrant(ctx, o.agent.ID, o.connector.ID)
	},
}

// fillAccess gives the victim's agent a token and a grant.
func (o *outsider) fillAccess(t *testing.T) {
	t.Helper()
	_, o.token = o.TokenIn(t, o.Tenant, o.agent.ID)
	o.t = t
	o.Grant(t, o.agent.ID, o.connector.ID, func(g *connectors.Grant) { g.PinnedTools = []string{"search"} })
}
