package connect

import (
	"context"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
)

// stands tells whether a link may still be taken: it does no more than its maker may do now. Who has lost the role, the membership
// or the key that it was made with connects nothing; below an admin, nobody replaces an account that works. Nor is anything connected to an agent
// that a member has by now.
func (b *Broker) stands(ctx context.Context, tx *store.Tenant, maker store.Starter, p place) error {
	m, err := member(ctx, tx, p)
	switch {
	case err != nil:
		return err
	case m != nil:
		return fault.Errorf(fault.NotFound, "This agent belongs to %s, and only they connect their accounts to it. Do not go on.", m.DisplayName())
	}
	role, err := b.roleNow(ctx, p.tenant, maker)
	switch {
	case err != nil && !fault.Is(err, fault.NotFound):
		return err
	case !role.May(connectors.PermOperate):
		return fault.Errorf(fault.NotFound, "Whoever made this link may not connect accounts any more. Ask for a new one.")
	case role.May(connectors.PermManage):
		return nil
	}
	works, err := b.works(ctx, p)
	if err != nil {
		return err
	}
	if works {
		return fault.Errorf(fault.Conflict, "An account is connected here already. If another should take its place, ask an admin for a link.")
	}
	return nil
}

// roleNow is the role that the maker of a link has by now; none with an error.
func (b *Broker) roleNow(ctx context.Context, tenant connectors.TenantID, maker store.Starter) (connectors.Role, error) {
	switch {
	case maker.Type == string(auth.KindOperator):
		return connectors.RoleOwner, nil
	case maker.ID == nil:
		return connectors.RoleMember, nil
	case maker.Type == string(auth.KindPerson):
		m, err := b.store.System().Membership(ctx, connectors.UserID{UUID: *maker.ID}, tenant)
		return m.Role, err
	case maker.Type == string(auth.KindKey):
		stored, err := b.store.System().APIKey(ctx, connectors.APIKeyID{UUID: *maker.ID})
		key := stored.Key
		if err != nil || stored.Tenant.ID != tenant || key.RevokedAt != nil || key.ExpiresAt != nil && !key.ExpiresAt.After(b.now()) {
			return "", err
		}
		return key.Role, nil
	default:
		return connectors.RoleMember, nil
	}
}

// works tells whether the account that is connected at a place can be used, as far as we know. One that nobody can open cannot.
func (b *Broker) works(ctx context.Context, p place) (bool, error) {
	g, err := b.store.Vault(p.tenant).Grant(ctx, p.connector.ID, p.agentID())
	if fault.Is(err, fault.Unavailable) {
		return false, err
	}
	alive := g.Status == connectors.CredentialActive || g.Status == connectors.CredentialRefreshFailed
	meta := g.Tokens.Meta
	lasts := meta.Refreshable || meta.ExpiryAssumed || g.ExpiresAt == nil || g.ExpiresAt.After(b.now())
	return err == nil && alive && lasts && g.Origin == connectors.Origin(p.connector.URL), nil
}
