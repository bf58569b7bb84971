package registry

import (
	"context"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
)

// checkStdio tells whether the operator lets a draft's command be started, in its folder and with its variables. Unlike an address, a
// stored one is looked at again: it is started here. One that is not allowed any more can still be disabled. What is wrong already is
// left out.
func (r *Registry) checkStdio(d connectors.Draft, wrong []fault.Field, old connectors.Draft) []fault.Field {
	rests := !d.Enabled && d.Env == nil && d.Command.Equal(old.Command)
	if d.Transport != connectors.TransportStdio || rests {
		return nil
	}
	var fields []fault.Field
	for _, f := range r.stdio.Check(d.Command, d.Env.Names()) {
		if !hasLocation(wrong, f.Location) {
			fields = append(fields, f)
		}
	}
	return fields
}

// setEnvironment stores the environment of a connector's program, where one is given: an empty one deletes what is there.
func setEnvironment(
	ctx context.Context, tx *store.Tenant, c connectors.Connector, e connectors.Environment,
) (connectors.Connector, error) {
	switch {
	case e == nil:
		if gone := c.Transport != connectors.TransportStdio; gone {
			return c, nil
		}
		return tx.Connector(ctx, connectors.Ref(c.ID.String())) // the stored one may be gone
	case len(e) == 0:
		if _, err := tx.DeleteEnvironment(ctx, c.ID); err != nil {
			return c, err
		}
	default:
		if err := tx.SetEnvironment(ctx, c, e); err != nil {
			return c, err
		}
	}
	c.EnvNames = e.Names()
	return c, nil
}
