package credentials

import (
	"context"
	"errors"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
)

// FindAccount reads in a snapshot the account that a use without a call's view is for: the one that the agent's grant binds, else its only one.
// agent nil: the shared one of syncs. The id is zero if there is none, or several and no choice, which the use explains.
func FindAccount(
	ctx context.Context, tx *store.Tenant, c connectors.Connector, agent *connectors.AgentID,
) (of Account, id connectors.CredentialID, err error) {
	of = Account{Agent: agent}
	if agent != nil {
		granted, err := tx.Agents().Grant(ctx, *agent, c.ID)
		if err != nil && !fault.Is(err, fault.NotFound) {
			return of, id, err
		}
		of.Name = granted.Grant.Account()
	}
	owner, ok := credentialOwner(c, agent)
	switch {
	case !ok, c.Auth.Type == connectors.AuthNone:
		return of, id, nil
	case of == Account{}:
		id, err = tx.Syncs().SharedForSyncs(ctx, c.ID)
	default:
		var found connectors.Credential
		found, err = tx.Agents().CredentialFor(ctx, c.ID, owner, of.Name)
		id = found.ID
	}
	if _, isSeveral := errors.AsType[store.SeveralAccountsError](err); isSeveral || fault.Is(err, fault.NotFound) {
		err = nil
	}
	return of, id, err
}

// TypeAccountChanged is the problem type of a use that began with another account.
const TypeAccountChanged = "account-changed"

// NewAccountChanged is the Conflict of a use that began with another account.
func NewAccountChanged(c connectors.Connector) error {
	return fault.Errorf(fault.Conflict, "This began with another account of %q, so it can't go on. Start it again.", c.Name).WithType(TypeAccountChanged)
}
