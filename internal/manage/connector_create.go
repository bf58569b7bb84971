package manage

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

// CreateConnector stores a new connector with its shared secret, if it has one. It starts no sync.
func (r *Registry) CreateConnector(
	ctx context.Context, a auth.Actor, d connectors.Draft, s connectors.Secret,
) (connectors.Connector, error) {
	return r.createConnector(ctx, a, d, s, true)
}

// CreateWithSecretLater is CreateConnector without a required secret.
func (r *Registry) CreateWithSecretLater(
	ctx context.Context, a auth.Actor, d connectors.Draft, s connectors.Secret,
) (connectors.Connector, error) {
	return r.createConnector(ctx, a, d, s, false)
}

func (r *Registry) createConnector(
	ctx context.Context, a auth.Actor, d connectors.Draft, s connectors.Secret, needed bool,
) (connectors.Connector, error) {
	if err := a.Require(connectors.PermManage); err != nil {
		return connectors.Connector{}, err
	}
	ownSlug := strings.TrimSpace(d.Slug) != ""
	d, s = d.Normalized(), s.Normalized()
	if d.Transport == connectors.TransportAPI {
		return connectors.Connector{}, fault.InvalidFields(fault.Field{Location: "transport", Message: "An HTTP API is added with its document or endpoints."})
	}
	if err := r.checkDraft(d, s, needed); err != nil {
		return connectors.Connector{}, err
	}
	return r.insertWithFreeSlug(ctx, a, d, s, ownSlug)
}

// insertWithFreeSlug stores a connector and numbers a generated slug that is taken. A chosen slug is never
// changed. and stores more in the same transaction.
func (r *Registry) insertWithFreeSlug(
	ctx context.Context, a auth.Actor, d connectors.Draft, s connectors.Secret, chosen bool, and ...func(*store.Tenant, connectors.Connector) error,
) (connectors.Connector, error) {
	base := d.Slug
	for n := 2; ; n++ {
		c, err := r.insertConnector(ctx, a, d, s, and...)
		if chosen || n > 9 || !isSlugConflict(err) {
			return c, err
		}
		d.Slug = numberSlug(base, n)
	}
}

// Check validates a new connector by all rules without storing it. The input is normalized.
func (r *Registry) Check(d connectors.Draft, s connectors.Secret) error {
	return r.checkDraft(d, s, true)
}

// checkDraft is Check; needed requires the secret.
func (r *Registry) checkDraft(d connectors.Draft, s connectors.Secret, needed bool) error {
	fields := slices.Concat(d.Validate(), d.ValidateSecret(s, needed), checkClientID(d, s), credentials.ValidateKey(d.Auth.Type, d.OAuth, s, "auth."))
	fields = append(fields, r.checkEgress(d, fields, connectors.Draft{})...)
	fields = append(fields, r.checkStdio(d, fields, connectors.Draft{})...)
	return fault.InvalidFields(fields...)
}

func (r *Registry) insertConnector(
	ctx context.Context, a auth.Actor, d connectors.Draft, s connectors.Secret, and ...func(*store.Tenant, connectors.Connector) error,
) (c connectors.Connector, err error) {
	makeSigningKey, err := r.planTokenExchange(ctx, a, connectors.Draft{}, d)
	if err != nil {
		return connectors.Connector{}, err
	}
	err = r.tx(ctx, a, func(tx *store.Tenant) error {
		if err := r.checkConnectorLimit(ctx, tx.Connectors()); err != nil {
			return err
		}
		if c, err = tx.Connectors().Create(ctx, d); err != nil {
			return err
		}
		if !s.Empty() {
			if err := setSecret(ctx, tx.Connectors(), credentialOwner{connector: c}, s); err != nil {
				return err
			}
		}
		if c, err = setDraftParts(ctx, tx.Connectors(), c, d); err != nil {
			return err
		}
		for _, more := range append(and, func(tx *store.Tenant, _ connectors.Connector) error { return makeSigningKey(tx) }) {
			if err := more(tx, c); err != nil {
				return err
			}
		}
		e := a.Event("connector.create", c.Slug)
		e.Detail = map[string]any{"connector_id": c.ID.String(), "name": c.Name, "url": c.URL, "auth_type": string(c.Auth.Type)}
		if c.Transport == connectors.TransportStdio {
			e.Detail["command"], e.Detail["env_names"] = c.Command.Path, c.EnvNames
		}
		if c.Transport == connectors.TransportAPI {
			if err := describeAPI(ctx, tx, c, e.Detail); err != nil {
				return err
			}
		}
		return tx.RecordChange(ctx, e, nil, store.ConnectorState(c.ID))
	})
	if err != nil {
		return connectors.Connector{}, err
	}
	if r.isDryRun {
		r.dryRunCreated++
	}
	return c, nil
}

// checkConnectorLimit fails if the tenant has its maximum of connectors. Concurrent requests may exceed it by a
// few.
func (r *Registry) checkConnectorLimit(ctx context.Context, tx store.Connectors) error {
	stats, err := tx.Stats(ctx)
	if err != nil {
		return err
	}
	if stats.Connectors+r.dryRunCreated >= r.maxConnectors {
		return fault.Errorf(fault.Conflict, "You've reached the limit of %d connectors. Delete some or ask the operator for more.", r.maxConnectors)
	}
	return nil
}

func isSlugConflict(err error) bool {
	return fault.Is(err, fault.Conflict) && hasLocation(fault.As(err).Fields, "slug")
}

func hasLocation(fields []fault.Field, location string) bool {
	return slices.ContainsFunc(fields, func(f fault.Field) bool { return f.Location == location })
}

// numberSlug appends a number within the maximum length of a slug.
func numberSlug(slug string, n int) string {
	tail := fmt.Sprintf("-%d", n)
	if len(slug)+len(tail) > connectors.MaxSlug {
		slug = strings.TrimRight(slug[:connectors.MaxSlug-len(tail)], "-")
	}
	return slug + tail
}
