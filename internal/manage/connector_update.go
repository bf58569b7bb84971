package manage

import (
	"context"
	"slices"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/credentials"
	"patchbay/internal/fault"
	"patchbay/internal/store"
)

// Change is a change of a connector.
type Change struct {
	Draft   func(*connectors.Draft) // edits the current settings; may be called more than once
	Secret  *connectors.Secret      // nil or empty: keeps the stored secret
	Version int                     // that the caller saw; 0: any

	SecretLater bool // a new auth type may come without its secret
	ConfirmMove bool // a move to another origin may drop credentials

	Document      []byte // of an HTTP API: is uploaded in place of the stored one; nil: none is
	FetchDocument bool   // of an HTTP API: the URL is the document's, which is asked for at once
}

// UpdateConnector changes a connector. Secrets given for another server or client are deleted, with a notice:
// see [deleteOutdatedSecrets]. A move to another origin that drops credentials fails with
// [TypeConfirmationRequired] unless it is confirmed.
func (r *Registry) UpdateConnector(
	ctx context.Context, a auth.Actor, ref connectors.Ref, change Change,
) (connectors.Connector, []string, error) {
	if err := a.Require(connectors.PermManage); err != nil {
		return connectors.Connector{}, nil, err
	}
	for try := 1; ; try++ {
		old, err := r.store.Tenant(a.Tenant.ID).Connectors().Get(ctx, ref)
		if err != nil {
			return connectors.Connector{}, nil, err
		}
		if change.Version != 0 && change.Version != old.Version { // all checks are of old
			return connectors.Connector{}, nil, store.NewStaleVersion()
		}
		c, notices, err := r.updateOnce(ctx, a, old, change)
		if change.Version != 0 || try == 3 || !fault.Is(err, fault.Conflict) || !r.hasChanged(ctx, a, old) {
			return c, notices, err
		}
		// A concurrent change came in between. This change is about single fields, so it is applied again.
	}
}

// hasChanged reports whether the connector's version is another one than old's.
func (r *Registry) hasChanged(ctx context.Context, a auth.Actor, old connectors.Connector) bool {
	now, err := r.store.Tenant(a.Tenant.ID).Connectors().Get(ctx, connectors.Ref(old.ID.String()))
	return err == nil && now.Version != old.Version
}

func (r *Registry) updateOnce(
	ctx context.Context, a auth.Actor, old connectors.Connector, change Change,
) (c connectors.Connector, notices []string, err error) {
	d, s := applyChange(old, change)
	if err := r.checkChange(connectors.DraftOf(old), d, s, !change.SecretLater); err != nil {
		return connectors.Connector{}, nil, err
	}
	document, err := r.readNewDocument(ctx, a, old, d, change)
	if err != nil {
		return connectors.Connector{}, nil, err
	}
	makeSigningKey, err := r.planTokenExchange(ctx, a, connectors.DraftOf(old), d)
	if err != nil {
		return connectors.Connector{}, nil, err
	}
	err = r.tx(ctx, a, func(tx *store.Tenant) error {
		before, err := tx.LockAndReadState(ctx, store.ConnectorState(old.ID))
		if err != nil {
			return err
		}
		if c, err = tx.Connectors().Update(ctx, old.ID, old.Version, d); err != nil {
			return err
		}
		if err := saveDocument(ctx, tx, c.ID, document); err != nil {
			return err
		}
		owners, err := readMoveLosses(ctx, tx, old, c)
		if err != nil {
			return err
		}
		dropped, err := deleteOutdatedSecrets(ctx, tx, old, c)
		if err != nil {
			return err
		}
		if !change.ConfirmMove {
			if err := requireMoveConfirmation(old, c, owners, dropped, s); err != nil {
				return err // and the transaction is rolled back
			}
		}
		if originMoved(old, c) || !old.Command.Equal(c.Command) { // another server's tools may have the same definitions
			if _, err := tx.Calls().EndAllowances(ctx, c.ID); err != nil {
				return err
			}
		}
		if !s.Empty() {
			if err := setSecret(ctx, tx.Connectors(), credentialOwner{connector: c}, s); err != nil {
				return err
			}
		}
		if c, err = setDraftParts(ctx, tx.Connectors(), c, d); err != nil {
			return err
		}
		if err := endOutdatedTokens(ctx, tx, old, c); err != nil {
			return err
		}
		if err := makeSigningKey(tx); err != nil {
			return err
		}
		notices = dropped.buildNotices(old, c, s)
		e := a.Event("connector.update", c.Slug)
		e.Detail = map[string]any{
			"connector_id": c.ID.String(), "changed": changedFields(old, c), "secret_set": !s.Empty() || d.Env != nil, "secrets_deleted": dropped.totalCount(),
		}
		describeDocument(document, e.Detail)
		return tx.RecordChange(ctx, e, before, store.ConnectorState(c.ID))
	})
	if err != nil {
		return connectors.Connector{}, nil, err
	}
	return c, notices, nil
}

func applyChange(old connectors.Connector, change Change) (connectors.Draft, connectors.Secret) {
	d := connectors.DraftOf(old)
	if change.Draft != nil {
		change.Draft(&d)
	}
	if d.Slug == "" {
		d.Slug = old.Slug // a new name must not change the addresses
	}
	if d.Transport != old.Transport && d.Transport != connectors.TransportStdio && d.Command.Equal(old.Command) {
		d.Command = connectors.Command{} // it belongs to the old transport
	}
	if d.Transport != old.Transport && d.Transport == connectors.TransportStdio && d.URL == old.URL {
		d.URL = ""
	}
	if d.Auth.Type != old.Auth.Type && d.Auth.Header == old.Auth.Header {
		d.Auth.Header, d.Auth.In = "", connectors.KeyInHeader // they belong to the old type
	}
	if d.Auth.Type != old.Auth.Type && d.OAuth.Equal(old.OAuth) {
		d.OAuth = d.OAuth.For(d.Auth.Type) // as does the rest
	}
	var s connectors.Secret
	if change.Secret != nil {
		s = change.Secret.Normalized()
	}
	return d.Normalized(), s
}

// checkChange validates a change; needed requires the secret of a new auth type.
func (r *Registry) checkChange(old, d connectors.Draft, s connectors.Secret, needed bool) error {
	invalid := d.Validate()
	if d.Slug == old.Slug { // it was valid when it was set
		invalid = slices.DeleteFunc(invalid, func(f fault.Field) bool { return f.Location == "slug" })
	}
	fields := slices.Concat(invalid, d.ValidateSecret(s, needed && d.Auth.Type != old.Auth.Type), checkClientID(d, s), checkClientChange(old, d, s),
		credentials.ValidateKey(d.Auth.Type, d.OAuth, s, "auth."))
	fields = append(fields, r.checkEgress(d, fields, old)...)
	fields = append(fields, r.checkStdio(d, fields, old)...)
	if d.Transport != old.Transport && (d.Transport == connectors.TransportAPI || old.Transport == connectors.TransportAPI) {
		fields = append(fields, fault.Field{Location: "transport", Message: "An MCP server can't become an HTTP API, or the other way round. Add another connector."})
	}
	return fault.InvalidFields(fields...)
}
