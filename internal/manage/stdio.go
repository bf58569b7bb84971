package manage

import (
	"context"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
)

// checkStdio checks a draft's command, directory and variables against the operator's list. An unchanged
// command is checked again, because it runs here; a disallowed one can still be disabled. Fields that are
// invalid already are skipped.
func (r *Registry) checkStdio(d connectors.Draft, invalid []fault.Field, old connectors.Draft) []fault.Field {
	isUnchanged := !d.Enabled && d.Env == nil && d.Command.Equal(old.Command)
	if d.Transport != connectors.TransportStdio || isUnchanged {
		return nil
	}
	var fields []fault.Field
	for _, f := range r.stdio.Check(d.Command, d.Env.Names()) {
		if !hasLocation(invalid, f.Location) {
			fields = append(fields, f)
		}
	}
	return fields
}

// setEnvironment stores a program's environment; nil keeps it, and an empty one deletes it.
func setEnvironment(
	ctx context.Context, tx store.Connectors, c connectors.Connector, e connectors.Environment,
) (connectors.Connector, error) {
	switch {
	case e == nil:
		if notStdio := c.Transport != connectors.TransportStdio; notStdio {
			return c, nil
		}
		return tx.Get(ctx, connectors.Ref(c.ID.String())) // the stored one may be deleted
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
