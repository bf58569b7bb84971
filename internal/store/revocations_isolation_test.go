package store_test

import (
	"context"

	"patchbay/internal/connectors"
	"patchbay/internal/testing/fixture"
)

var revocationAttempts = map[string]attempt{
	"Accounts.FinishRevocation": func(ctx context.Context, o outsider) (bool, error) {
		id, err := o.deletedGrant(ctx)
		if err != nil {
			return false, err
		}
		return true, o.door.Accounts().FinishRevocation(ctx, id)
	},
	"Accounts.ReleaseRevocation": func(ctx context.Context, o outsider) (bool, error) {
		id, err := o.deletedGrant(ctx)
		if err != nil {
			return false, err
		}
		return true, o.door.Accounts().ReleaseRevocation(ctx, id)
	},
	"Accounts.HoldsGrantOf": func(ctx context.Context, o outsider) (bool, error) {
		g := newGrant(o.connector)
		if err := o.Door().Accounts().SaveGrant(ctx, g); err != nil {
			return false, err
		}
		return o.door.Accounts().HoldsGrantOf(ctx, g)
	},
}

var revocationVaultAttempts = map[string]attempt{
	"Revocation": func(ctx context.Context, o outsider) (bool, error) {
		id, err := o.deletedGrant(ctx)
		if err != nil {
			return false, err
		}
		return one(o.vault.Revocation(ctx, id))
	},
}

// deletedGrant is a grant of the victim's that was deleted and waits to be revoked.
func (o outsider) deletedGrant(ctx context.Context) (connectors.CredentialID, error) {
	c, err := o.Door().Connectors().Create(ctx, fixture.Draft(func(d *connectors.Draft) {
		d.Auth.Type = connectors.AuthOAuth2
	}))
	if err != nil {
		return connectors.CredentialID{}, err
	}
	if err := o.Door().Accounts().SaveGrant(ctx, newGrant(c)); err != nil {
		return connectors.CredentialID{}, err
	}
	g, err := o.St.Vault(o.World.Tenant).Grant(ctx, c.ID, nil)
	if err != nil {
		return connectors.CredentialID{}, err
	}
	return g.ID, o.Door().Connectors().Delete(ctx, c.ID)
}
