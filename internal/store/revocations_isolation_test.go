package store_test

import (
	"context"

	"patchbay/internal/connectors"
	"patchbay/internal/testing/fixture"
)

var revocationAttempts = map[string]attempt{
	"FinishRevocation": func(ctx context.Context, o outsider) (bool, error) {
		id, err := o.deletedGrant(ctx)
		if err != nil {
			return false, err
		}
		return true, o.door.FinishRevocation(ctx, id)
	},
	"ReleaseRevocation": func(ctx context.Context, o outsider) (bool, error) {
		id, err := o.deletedGrant(ctx)
		if err != nil {
			return false, err
		}
		return true, o.door.ReleaseRevocation(ctx, id)
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
	c, err := o.Door().CreateConnector(ctx, fixture.Draft(func(d *connectors.Draft) {
		d.Auth.Type = connectors.AuthOAuth2
	}))
	if err != nil {
		return connectors.CredentialID{}, err
	}
	if err := o.Door().SaveGrant(ctx, newGrant(c)); err != nil {
		return connectors.CredentialID{}, err
	}
	g, err := o.St.Vault(o.World.Tenant).Grant(ctx, c.ID, nil)
	if err != nil {
		return connectors.CredentialID{}, err
	}
	return g.ID, o.Door().DeleteConnector(ctx, c.ID)
}
