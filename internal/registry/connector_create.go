package registry

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/credentials"
	"patchbay/internal/fault"
	"patchbay/internal/store"
)

// CreateConnector stores a new connector, with its shared secret where it takes one. It starts no sync.
func (r *Registry) CreateConnector(
	ctx context.Context, a auth.Actor, d connectors.Draft, s connectors.Secret,
) (connectors.Connector, error) {
	return r.create(ctx, a, d, s, true)
}

// CreateWithSecretLater is CreateConnector where the secret may come afterwards, from somebody else.
func (r *Registry) CreateWithSecretLater(
	ctx context.Context, a auth.Actor, d connectors.Draft, s connectors.Secret,
) (connectors.Connector, error) {
	return r.create(ctx, a, d, s, false)
}

func (r *Registry) create(
	ctx context.Context, a auth.Actor, d connectors.Draft, s connectors.Secret, needed bool,
) (connectors.Connector, error) {
	if err := a.Require(connectors.PermManage); err != nil {
		return connectors.Connector{}, err
	}
	ownSlug := strings.TrimSpace(d.Slug) != ""
	d, s = d.Normalized(), s.Normalized()
	if err := r.check(d, s, needed); err != nil {
		return connectors.Connector{}, err
	}
	return r.insertNumbered(ctx, a, d, s, ownSlug)
}

// insertNumbered stores a connector; a slug that is taken gets a number. Two names may give one slug; only the slug that somebody
// chose must be exactly that.
func (r *Registry) insertNumbered(
	ctx context.Context, a auth.Actor, d connectors.Draft, s connectors.Secret, chosen bool,
) (connectors.Connector, error) {
	base := d.Slug
	for n := 2; ; n++ {
		c, err := r.insertConnector(ctx, a, d, s)
		if chosen || n > 9 || !aboutSlug(err) {
			return c, err
		}
		d.Slug = numbered(base, n)
	}
}

// Check tells what is wrong with a new connector, by all rules and without storing anything. It takes normalized input.
func (r *Registry) Check(d connectors.Draft, s connectors.Secret) error {
	return r.check(d, s, true)
}

// check is Check; with needed false, the secret may come later.
func (r *Registry) check(d connectors.Draft, s connectors.Secret, needed bool) error {
	fields := slices.Concat(d.Validate(), d.ValidateSecret(s, needed), clientless(d, s), credentials.UnfitKey(d.Auth.Type, d.OAuth, s, "auth."))
	fields = append(fields, r.checkEgress(d, fields, connectors.Draft{})...)
	fields = append(fields, r.checkStdio(d, fields, connectors.Draft{})...)
	return fault.InvalidFields(fields...)
}

func (r *Registry) insertConnector(
	ctx context.Context, a auth.Actor, d connectors.Draft, s connectors.Secret,
) (c connectors.Connector, err error) {
	err = r.tx(ctx, a, func(tx *store.Tenant) error {
		if err := r.room(ctx, tx); err != nil {
			return err
		}
		if c, err = tx.CreateConnector(ctx, d); err != nil {
			return err
		}
		if !s.Empty() {
			if err := setSecret(ctx, tx, c, nil, s); err != nil {
				return err
			}
		}
		if c, err = setEnvironment(ctx, tx, c, d.Env); err != nil {
			return err
		}
		e := a.Event("connector.create", c.Slug)
		e.Detail = map[string]any{"connector_id": c.ID.String(), "name": c.Name, "url": c.URL, "auth_type": string(c.Auth.Type)}
		if c.Transport == connectors.TransportStdio {
			e.Detail["command"], e.Detail["env_names"] = c.Command.Path, c.EnvNames
		}
		return tx.RecordChange(ctx, e, nil, store.OfConnector(c.ID))
	})
	if err != nil {
		return connectors.Connector{}, err
	}
	if r.rehearsal {
		r.rehearsed++
	}
	return c, nil
}

// room tells whether the tenant may have one more connector. Those who ask at the same time may together get a few more.
func (r *Registry) room(ctx context.Context, tx *store.Tenant) error {
	stats, err := tx.ConnectorStats(ctx)
	if err != nil {
		return err
	}
	if stats.Connectors+r.rehearsed >= r.most {
		return fault.Errorf(fault.Conflict, "A tenant has at most %d connectors, and this one has them. Delete some that nobody needs, or ask the operator for more.", r.most)
	}
	return nil
}

func aboutSlug(err error) bool {
	return fault.Is(err, fault.Conflict) && hasLocation(fault.As(err).Fields, "slug")
}

func hasLocation(fields []fault.Field, location string) bool {
	return slices.ContainsFunc(fields, func(f fault.Field) bool { return f.Location == location })
}

// numbered is a slug with a number, within the length of a slug.
func numbered(slug string, n int) string {
	tail := fmt.Sprintf("-%d", n)
	if len(slug)+len(tail) > connectors.MaxSlug {
		slug = strings.TrimRight(slug[:connectors.MaxSlug-len(tail)], "-")
	}
	return slug + tail
}
