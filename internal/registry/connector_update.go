package registry

import (
	"context"
	"maps"
	"slices"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/credentials"
	"patchbay/internal/fault"
	"patchbay/internal/store"
)

// Change is an order to change a connector.
type Change struct {
	Draft   func(*connectors.Draft) // changes the settings as they are; it may be called more than once
	Secret  *connectors.Secret      // nil or empty: the stored one stays
	Version int                     // of the settings that the caller saw; 0: whatever they are now

	SecretLater bool // another type may come without its secret
}

// UpdateConnector changes a connector. A stored secret never follows its connector to a server that it was not given for, nor
// to another client: what is deleted therefore, a notice says ([drop]).
func (r *Registry) UpdateConnector(
	ctx context.Context, a auth.Actor, ref connectors.Ref, change Change,
) (connectors.Connector, []string, error) {
	if err := a.Require(connectors.PermManage); err != nil {
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
	if err := r.checkChange(connectors.DraftOf(old), d, s, !change.SecretLater); err != nil {
		return connectors.Connector{}, nil, err
	}
	version := old.Version
	if change.Version != 0 {
		version = change.Version
	}
	err = r.tx(ctx, a, func(tx *store.Tenant) error {
		was, err := tx.Before(ctx, store.OfConnector(old.ID))
		if err != nil {
			return err
		}
		if c, err = tx.UpdateConnector(ctx, old.ID, version, d); err != nil {
			return err
		}
		dropped, err := drop(ctx, tx, old, c)
		if err != nil {
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
		if !old.OAuth.Equal(c.OAuth) {
			if err := tx.RenewMachineTokens(ctx, c.ID); err != nil {
				return err
			}
		}
		notices = dropped.notices(old, c, s)
		e := a.Event("connector.update", c.Slug)
		e.Detail = map[string]any{
			"connector_id": c.ID.String(), "changed": changed(old, c), "secret_set": !s.Empty() || d.Env != nil, "secrets_deleted": dropped.total(),
		}
		return tx.RecordChange(ctx, e, was, store.OfConnector(c.ID))
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
	if d.Transport != old.Transport && d.Transport != connectors.TransportStdio && d.Command.Equal(old.Command) {
		d.Command = connectors.Command{} // it belonged to the old transport
	}
	if d.Transport != old.Transport && d.Transport == connectors.TransportStdio && d.URL == old.URL {
		d.URL = ""
	}
	if d.Auth.Type != old.Auth.Type && d.Auth.Header == old.Auth.Header {
		d.Auth.Header = "" // it belonged to the old type
	}
	if d.Auth.Type != old.Auth.Type && d.OAuth.Equal(old.OAuth) {
		d.OAuth = d.OAuth.For(d.Auth.Type) // and so did these
	}
	var s connectors.Secret
	if change.Secret != nil {
		s = change.Secret.Normalized()
	}
	return d.Normalized(), s
}

// checkChange tells what is wrong with a change. needed: a change of the type brings the secret with it.
func (r *Registry) checkChange(old, d connectors.Draft, s connectors.Secret, needed bool) error {
	invalid := d.Validate()
	if d.Slug == old.Slug { // it was allowed once
		invalid = slices.DeleteFunc(invalid, func(f fault.Field) bool { return f.Location == "slug" })
	}
	fields := slices.Concat(invalid, d.ValidateSecret(s, needed && d.Auth.Type != old.Auth.Type), clientless(d, s), anotherClient(old, d, s),
		credentials.UnfitKey(d.Auth.Type, d.OAuth, s, "auth."))
	fields = append(fields, r.checkEgress(d, fields, old)...)
	fields = append(fields, r.checkStdio(d, fields, old)...)
	return fault.InvalidFields(fields...)
}

// changed names the settings that differ, for the audit log.
func changed(old, now connectors.Connector) []string {
	differs := map[string]bool{
		"name": old.Name != now.Name, "slug": old.Slug != now.Slug, "description": old.Description != now.Description,
		"transport": old.Transport != now.Transport, "url": old.URL != now.URL, "command": old.Command.Path != now.Command.Path,
		"args": !slices.Equal(old.Command.Args, now.Command.Args), "cwd": old.Command.Dir != now.Command.Dir, "headers": !maps.Equal(old.Headers, now.Headers),
		"credential_mode": old.CredentialMode != now.CredentialMode, "auth": old.Auth != now.Auth || !old.OAuth.Equal(now.OAuth),
		"timeout_ms": old.Timeout != now.Timeout, "retry_attempts": old.RetryAttempts != now.RetryAttempts,
		"enabled": old.Enabled != now.Enabled, "sync_interval_s": old.SyncInterval != now.SyncInterval,
		"tool_changes": old.ToolChanges != now.ToolChanges, "listen": old.Listen != now.Listen, "max_definition_age_s": old.DefinitionAge != now.DefinitionAge, "calls_per_minute": old.CallsPerMinute != now.CallsPerMinute,
	}
	maps.DeleteFunc(differs, func(_ string, d bool) bool { return !d })
	return slices.Sorted(maps.Keys(differs))
}
