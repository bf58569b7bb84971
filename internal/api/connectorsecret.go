package api

import (
	"context"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
)

// changedSecret is the new secret of a patch; nil if the stored one stays. A basic credential has two parts and
// is replaced as a whole. A missing part is filled in: the user name is known, the password is not.
func changedSecret(ctx context.Context, tenant store.Connectors, ref connectors.Ref, p ConnectorFields) (*connectors.Secret, error) {
	secret := p.toSecret()
	if secret.Empty() {
		return nil, nil
	}
	if (p.Auth.Username == nil) == (p.Auth.Password == nil) {
		return &secret, nil
	}
	account, ok, err := storedAccount(ctx, tenant, ref, p)
	switch {
	case err != nil:
		return nil, err
	case !ok:
		return &secret, nil
	case p.Auth.Username == nil:
		secret.Username = account
		return &secret, nil
	case *p.Auth.Username == account:
		return nil, nil
	}
	return nil, fault.InvalidFields(fault.Field{
		Location: "auth.password", Message: `Another user name also needs its password ("" for none).`,
	})
}

// storedAccount is the user name of the stored basic credential; ok is false if the patch changes the type.
func storedAccount(ctx context.Context, tenant store.Connectors, ref connectors.Ref, p ConnectorFields) (account string, ok bool, err error) {
	c, err := tenant.Get(ctx, ref)
	if err != nil {
		return "", false, err
	}
	draft := connectors.DraftOf(c)
	p.apply(&draft)
	if c.Auth.Type != connectors.AuthBasic || draft.Auth.Type != connectors.AuthBasic || draft.CredentialMode != connectors.CredentialShared {
		return "", false, nil
	}
	stored, err := tenant.Credentials(ctx, c.ID, store.Page{})
	if err != nil {
		return "", false, err
	}
	for _, credential := range stored.Items {
		if credential.AgentID == nil {
			return credential.Account, true, nil
		}
	}
	return "", false, nil
}
