package store_test

import (
	"context"
	"time"

	"patchbay/internal/connectors"
)

// settingsAttempts are the cases of what a tenant says about itself.
var settingsAttempts = map[string]attempt{
	"Accounts.Rename": func(ctx context.Context, o outsider) (bool, error) {
		return true, o.door.Accounts().Rename(ctx, o.connector.ID, &o.agent.ID, connectors.DefaultAccount, "mine")
	},
	"Accounts.FullName": func(ctx context.Context, o outsider) (bool, error) { // beside the victim's account it would be refused
		_, err := o.door.Accounts().FullName(ctx, o.connector.ID, &o.agent.ID, connectors.DefaultAccount)
		return false, err
	},
	"Accounts.CheckNamed": func(ctx context.Context, o outsider) (bool, error) {
		return false, o.door.Accounts().CheckNamed(ctx)
	},
	"Accounts.Names": func(ctx context.Context, o outsider) (bool, error) {
		names, err := o.door.Accounts().Names(ctx, o.connector.ID, &o.agent.ID)
		return len(names) > 0, err
	},
	"Syncs.SharedForSyncs": func(ctx context.Context, o outsider) (bool, error) {
		return one(o.door.Syncs().SharedForSyncs(ctx, o.connector.ID))
	},
	"Accounts.OfOwner": func(ctx context.Context, o outsider) (bool, error) {
		list, err := o.door.Accounts().OfOwner(ctx, o.connector.ID, &o.agent.ID)
		return len(list) > 0, err
	},
	"Accounts.BoundAgents": func(ctx context.Context, o outsider) (bool, error) {
		slugs, err := o.door.Accounts().BoundAgents(ctx, o.connector.ID, nil, connectors.DefaultAccount)
		return len(slugs) > 0, err
	},
	"Syncs.ChooseForSyncs": func(ctx context.Context, o outsider) (bool, error) {
		return true, o.door.Syncs().ChooseForSyncs(ctx, o.connector.ID, &o.agent.ID, connectors.DefaultAccount)
	},
	"SetDefaults": func(ctx context.Context, o outsider) (bool, error) {
		mine := connectors.Defaults{
			Approval: connectors.ApprovalAuto, SyncInterval: time.Hour, ToolChanges: connectors.ToolChangesAuto, Listen: connectors.ListenOff,
		}
		if err := o.door.SetDefaults(ctx, mine); err != nil {
			return false, err
		}
		theirs, err := o.Door().Self(ctx)
		return theirs.Defaults == mine, err
	},
	"SetDownAfter": func(ctx context.Context, o outsider) (bool, error) {
		mine := connectors.DownAfter{Failures: 7, Minutes: 70}
		if err := o.door.SetDownAfter(ctx, mine); err != nil {
			return false, err
		}
		theirs, err := o.Door().Self(ctx)
		return theirs.DownAfter == mine, err
	},
	"Tools.AcknowledgeVanished": func(ctx context.Context, o outsider) (bool, error) {
		const mark = `update connector_clock set vanished_at = now(), vanished_tools = 1, vanished_of = 1 where connector_id = $1`
		if err := asSystem(ctx, o.Pool, mark, []any{o.connector.ID}); err != nil {
			return false, err
		}
		if err := o.door.Tools().AcknowledgeVanished(ctx, o.connector.ID); err != nil {
			return true, err
		}
		theirs, err := o.Door().Connectors().Get(ctx, connectors.Ref(o.connector.Slug))
		return theirs.Vanished == nil, err
	},
	"Lists.FirstSteps": func(ctx context.Context, o outsider) (bool, error) {
		s, err := o.door.Lists().FirstSteps(ctx)
		return s.Connector == o.connector.Slug, err
	},
	"Lists.DismissFirstSteps": func(ctx context.Context, o outsider) (bool, error) {
		if err := o.door.Lists().DismissFirstSteps(ctx); err != nil {
			return false, err
		}
		theirs, err := o.Door().Self(ctx)
		return theirs.FirstStepsDismissed, err
	},
	"RefuseInvalidResults": func(ctx context.Context, o outsider) (bool, error) {
		if err := o.door.RefuseInvalidResults(ctx, true); err != nil {
			return false, err
		}
		theirs, err := o.Door().Self(ctx)
		return theirs.RefuseInvalidResults, err
	},
	"People.RequireSecondFactor": func(ctx context.Context, o outsider) (bool, error) {
		if err := o.door.People().RequireSecondFactor(ctx, true); err != nil {
			return false, err
		}
		theirs, err := o.Door().Self(ctx)
		return theirs.SecondFactorRequired, err
	},
	"SealingKeys": func(ctx context.Context, o outsider) (bool, error) {
		mine, err := o.door.SealingKeys(ctx)
		if err != nil {
			return false, err
		}
		theirs, err := o.Door().SealingKeys(ctx)
		return mine.Primary == theirs.Primary, err
	},
	"SealedBy": func(ctx context.Context, o outsider) (bool, error) {
		mine, err := o.door.SealedBy(ctx)
		return len(mine) > 0, err
	},
}

// namedVaultAttempts are the cases of accounts by name, by id and for syncs.
var namedVaultAttempts = map[string]attempt{
	"NamedSecret": func(ctx context.Context, o outsider) (bool, error) {
		_, text, err := o.vault.NamedSecret(ctx, o.connector.ID, &o.agent.ID, connectors.DefaultAccount)
		return !text.Empty(), err
	},
	"SyncSecret": func(ctx context.Context, o outsider) (bool, error) {
		_, text, err := o.vault.SyncSecret(ctx, o.connector.ID, false)
		return !text.Empty(), err
	},
	"SecretByID": func(ctx context.Context, o outsider) (bool, error) {
		_, text, err := o.vault.SecretByID(ctx, o.grant.ID)
		return !text.Empty(), err
	},
	"SyncGrant": func(ctx context.Context, o outsider) (bool, error) {
		g, err := o.vault.SyncGrant(ctx, o.grant.ConnectorID, true)
		return !g.Tokens.AccessToken.Empty(), err
	},
	"NamedGrant": func(ctx context.Context, o outsider) (bool, error) {
		g, err := o.vault.NamedGrant(ctx, o.grant.ConnectorID, nil, connectors.DefaultAccount)
		return !g.Tokens.AccessToken.Empty(), err
	},
	"GrantByID": func(ctx context.Context, o outsider) (bool, error) {
		g, err := o.vault.GrantByID(ctx, o.grant.ID)
		return !g.Tokens.AccessToken.Empty(), err
	},
}
