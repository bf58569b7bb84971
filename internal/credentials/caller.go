package credentials

import (
	"context"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
)

// TypeManagedAccount is the problem type of a member's managed account that does not serve the caller.
const TypeManagedAccount = "managed-account"

// ResolveFor is [Resolver.Resolve] for a call. A managed account serves its member and programs with the agent's own token. Another
// caller gets a Denied fault of TypeManagedAccount, and no token is requested.
func (r *Resolver) ResolveFor(
	ctx context.Context, tenant connectors.TenantID, c connectors.Connector, of Account, caller connectors.Caller,
) (*Credential, error) {
	return r.resolveAccount(ctx, tenant, c, of, &caller)
}

// ResolveByID is [Resolver.ResolveFor] for the account that a use began with, whatever its name is now. nil: the agent has it no more, or it is not
// usable.
func (r *Resolver) ResolveByID(
	ctx context.Context, tenant connectors.TenantID, c connectors.Connector, id connectors.CredentialID, agent *connectors.AgentID, caller connectors.Caller,
) (*Credential, error) {
	owner, ok := credentialOwner(c, agent)
	isOwn := func(stored connectors.Credential) bool {
		return stored.ConnectorID == c.ID && (stored.AgentID == nil) == (owner == nil) && (owner == nil || *stored.AgentID == *owner)
	}
	gone := fault.Errorf(fault.NotFound, "The account is gone.")
	switch vault := r.store.Vault(tenant); {
	case !ok:
		return nil, nil
	case hasToken(c.Auth.Type):
		return r.refreshIfDue(ctx, tenant, c, &caller, func() (store.Grant, error) {
			g, err := vault.GrantByID(ctx, id)
			if err == nil && !isOwn(g.Credential) {
				err = gone
			}
			return g, err
		})
	default:
		stored, sealed, err := vault.SecretByID(ctx, id)
		if err == nil && !isOwn(stored) {
			err = gone
		}
		return openSecret(c, stored, sealed, err)
	}
}

// CheckCaller returns the Denied fault of a managed account that does not serve the caller; nil: it does.
func (u *Credential) CheckCaller(caller connectors.Caller) error {
	if u.member == nil || u.Agent == nil || servesCaller(*u.Agent, *u.member, caller) {
		return nil
	}
	return newManagedError(u.connector)
}

// servesCaller reports whether the managed account of a member's agent serves the caller.
func servesCaller(agent connectors.AgentID, member connectors.UserID, caller connectors.Caller) bool {
	return caller.IsPerson(member) || caller.IsAgent(agent)
}

func newManagedError(c connectors.Connector) error {
	format := "The agent's account for %q comes from its member's sign-in, so it serves only that member and the agent's own programs. " +
		"Ask the member to run this, or use another agent."
	if c.OAuth.TokenExchange != "" {
		format = "The agent's account for %q acts as its member, so it serves only that member and the agent's own programs. Ask the member to run this, or use another agent."
	}
	f := fault.Errorf(fault.Denied, format, c.Name)
	f.Code = "managed_account"
	return f.WithType(TypeManagedAccount)
}
