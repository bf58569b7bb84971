package registry

import (
	"context"
	"maps"
	"slices"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
)

// Change is an order to change a connector.
type Change struct {
	Draft   func(*connectors.Draft) // changes the settings as they are; it may be called more than once
	Secret  *connectors.Secret      // nil or empty: the stored one stays
	Version int                     // of the settings that the caller saw; 0: whatever they are now
}

// UpdateConnector changes a connector. A stored secret never follows its connector to a server that it was not given for:
// where the URL moves to another origin, the authentication becomes another, or the credential mode changes, the stored ones
// are deleted and a notice says so.
func (r *Registry) UpdateConnector(
	ctx context.Context, a auth.Actor, ref connectors.Ref, change Change,
) (connectors.Connector, []string, error) {
	if err := a.Require(connectors.RoleAdmin); err != nil {
		return connectors.Connector{}, nil, err
	}
	for try := 1; ; try++ {
		old, err := r.store.Tenant(a.Tenant.ID).Connector(ctx, ref)
		if err != nil {
			return connectors.Connector{}, nil, err
		}
		c, notices, err := r.update(ctx, a, old, change)
		if change.Version != 0 || try == 3 || !fault.Is(err, fault.Conflict) || !r.moved(ctx, a, old) {
			return c, notices, err
		}
		// Somebody else's change came between the read and the write, and this caller's is about single fields: apply it anew.
	}
}

// moved tells whether the connector is another than the one that was read.
func (r *Registry) moved(ctx context.Context, a auth.Actor, old connectors.Connector) bool {
	now, err := r.store.Tenant(a.Tenant.ID).Connector(ctx, connectors.Ref(old.ID.String()))
	return err == nil && now.Version != old.Version
}

func (r *Registry) update(
	ctx context.Context, a auth.Actor, old connectors.Connector, change Change,
) (c connectors.Connector, notices []string, err error) {
	d, s := apply(old, change)
	if err := r.checkChange(old, d, s); err != nil {
		return connectors.Connector{}, nil, err
	}
	version := old.Version
	if change.Version != 0 {
		version = change.Version
	}
	err = r.store.Tenant(a.Tenant.ID).Tx(ctx, func(tx *store.Tenant) error {
		if c, err = tx.UpdateConnector(ctx, old.ID, version, d); err != nil {
			return err
		}
		dropped, err := dropSecrets(ctx, tx, old, c)
		if err != nil {
			return err
		}
		if !s.Empty() {
			if err := setSecret(ctx, tx, c, nil, s); err != nil {
				return err
			}
		}
		notices = dropNotice(old, c, dropped, !s.Empty())
		e := a.Event("connector.update", c.Slug)
		e.Detail = map[string]any{
			"connector_id": c.ID.String(), "changed": changed(old, c), "secret_set": !s.Empty(), "secrets_deleted": dropped,
		}
		return tx.Record(ctx, e)
	})
	if err != nil {
		return connectors.Connector{}, nil, err
	}
	return c, notices, nil
}

func apply(old connectors.Connector, change Change) (connectors.Draft, connectors.Secret) {
	d := connectors.DraftOf(old)
	if change.Draft != nil {
		change.Draft(&d)
	}
	if d.Slug == "" {
		d.Slug = old.Slug // a new name does not move the addresses
	}
	if d.Auth.Type != old.Auth.Type && d.Auth.Header == old.Auth.Header {
		d.Auth.Header = "" // it belonged to the old type
	}
	var s connectors.Secret
	if change.Secret != nil {
		s = change.Secret.Normalized()
	}
	return d.Normalized(), s
}

func (r *Registry) checkChange(old connectors.Connector, d connectors.Draft, s connectors.Secret) error {
	fields := slices.Concat(d.Validate(), d.ValidateSecret(s, d.Auth.Type != old.Auth.Type))
	if d.URL != old.URL && !hasLocation(fields, "url") {
		fields = append(fields, r.checkEgress(d.URL)...)
	}
	return fault.InvalidFields(fields...)
}

// dropSecrets deletes the stored secrets that were given for another server, another authentication or other agents.
func dropSecrets(ctx context.Context, tx *store.Tenant, old, now connectors.Connector) (int, error) {
	if !originMoved(old, now) && old.Auth.Type == now.Auth.Type && old.CredentialMode == now.CredentialMode {
		return 0, nil
	}
	return tx.DeleteCredentials(ctx, now.ID)
}

func originMoved(old, now connectors.Connector) bool {
	return connectors.Origin(old.URL) != connectors.Origin(now.URL)
}

func dropNotice(old, now connectors.Connector, dropped int, replaced bool) []string {
	perAgent := old.CredentialMode == connectors.CredentialPerAgent
	switch {
	case dropped == 0, replaced && !perAgent:
		return nil
	case old.CredentialMode != now.CredentialMode && perAgent:
		return []string{"The stored secrets of the agents were deleted, because one credential serves all agents now. Set it."}
	case old.CredentialMode != now.CredentialMode:
		return []string{"The stored secret was deleted, because each agent has its own now. Set them."}
	case originMoved(old, now) && perAgent:
		return []string{"The stored secrets of the agents were deleted, because the URL moved to another origin. Set them again."}
	case originMoved(old, now):
		return []string{"The stored secret was deleted, because the URL moved to another origin. Set it again."}
	case now.Auth.Type == connectors.AuthNone:
		return []string{"The stored secret was deleted, because the connector needs none any more."}
	case perAgent:
		return []string{"The stored secrets of the agents were deleted, because the authentication changed. Set them again."}
	default:
		return []string{"The stored secret was deleted, because the authentication changed. Set it again."}
	}
}

// changed names the settings that differ, for the audit log.
func changed(old, now connectors.Connector) []string {
	differs := map[string]bool{
		"name": old.Name != now.Name, "slug": old.Slug != now.Slug, "description": old.Description != now.Description,
		"transport": old.Transport != now.Transport, "url": old.URL != now.URL, "headers": !maps.Equal(old.Headers, now.Headers),
		"credential_mode": old.CredentialMode != now.CredentialMode, "auth": old.Auth != now.Auth,
		"timeout_ms": old.Timeout != now.Timeout, "retry_attempts": old.RetryAttempts != now.RetryAttempts,
		"enabled": old.Enabled != now.Enabled, "sync_interval_s": old.SyncInterval != now.SyncInterval,
		"tool_changes": old.ToolChanges != now.ToolChanges,
	}
	maps.DeleteFunc(differs, func(_ string, d bool) bool { return !d })
	return slices.Sorted(maps.Keys(differs))
}
