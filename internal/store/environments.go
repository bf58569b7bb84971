package store

import (
	"context"
	"fmt"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/secret"
	"patchbay/internal/store/dbgen"
)

// SetEnvironment seals and stores the environment of a connector's program, replacing the previous one. It is
// bound to the current command, arguments and directory.
func (t Connectors) SetEnvironment(ctx context.Context, c connectors.Connector, e connectors.Environment) error {
	plain, err := e.Encode()
	if err != nil {
		return err
	}
	p := dbgen.SetEnvironmentParams{TenantID: t.id, ConnectorID: c.ID, Program: c.Command.Program(), Names: append([]string{}, e.Names()...)}
	return t.sealAndRetry(ctx, plain, environmentAD(t.id, c.ID, p.Program), func(sealed []byte) error {
		p.Sealed = sealed
		return t.q.SetEnvironment(ctx, p)
	})
}

// DeleteEnvironment deletes it and reports whether it existed.
func (t Connectors) DeleteEnvironment(ctx context.Context, id connectors.ConnectorID) (bool, error) {
	n, err := t.q.DeleteEnvironment(ctx, t.id, id)
	return n > 0, err
}

// Environment opens the environment of a connector's program. It fails with NotFound if none is stored for the
// current command.
func (v *Vault) Environment(ctx context.Context, c connectors.Connector) (connectors.Environment, error) {
	row, err := v.q.Environment(ctx, v.id, c.ID)
	if err != nil {
		return nil, rowError(err, "environment")
	}
	if row.Program != c.Command.Program() {
		return nil, newNotFound("environment")
	}
	plain, err := v.keyring.Open(row.Sealed, environmentAD(v.id, c.ID, row.Program))
	if err == nil {
		var e connectors.Environment
		if e, err = connectors.DecodeEnvironment(plain); err == nil {
			return e, nil
		}
	}
	return nil, fault.Wrap(fault.Internal, err, "The stored environment can't be decrypted. Set it again.")
}

// environmentAD binds an environment to its program, so that write access to the table cannot give it to
// another program.
func environmentAD(tenant connectors.TenantID, id connectors.ConnectorID, program string) secret.AD {
	return secret.AD{Tenant: tenant.String(), Table: "connector_envs", Column: "sealed", Row: fmt.Sprintf("%s %q", id, program)}
}
