package connect

import (
	"context"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
)

// recheckLink fails unless the link's maker could make it now: the role, membership or key must still exist.
// Below admin it must not replace a usable account, and no link connects an agent that a member has by now.
func (b *Broker) recheckLink(ctx context.Context, tx store.Accounts, maker store.Starter, p target) error {
	m, err := agentMember(ctx, tx, p)
	switch {
	case err != nil:
		return err
	case m != nil:
		return fault.Errorf(fault.NotFound, "Only %s can connect accounts to this agent. Don't continue.", m.DisplayName())
	}
	role, err := b.currentRole(ctx, p.tenant, maker)
	switch {
	case err != nil && !fault.Is(err, fault.NotFound):
		return err
	case !role.May(connectors.PermOperate):
		return fault.Errorf(fault.NotFound, "This link's creator lost permission. Ask for a new one.")
	case role.May(connectors.PermManage):
		return nil
	}
	if err := recheckLinkAccount(ctx, tx, p); err != nil {
		return err
	}
	works, err := b.isAccountUsable(ctx, p)
	if err != nil {
		return err
	}
	if works {
		return fault.Errorf(fault.Conflict, "An account is already connected. To replace it, ask an admin for a link.")
	}
	return nil
}

// currentRole returns the current role of a link's maker.
func (b *Broker) currentRole(ctx context.Context, tenant connectors.TenantID, maker store.Starter) (connectors.Role, error) {
	switch {
	case maker.Type == string(auth.KindOperator):
		return connectors.RoleOwner, nil
	case maker.ID == nil:
		return connectors.RoleMember, nil
	case maker.Type == string(auth.KindPerson):
		m, err := b.store.System().People().Membership(ctx, connectors.UserID{UUID: *maker.ID}, tenant)
		return m.Role, err
	case maker.Type == string(auth.KindKey):
		stored, err := b.store.System().People().APIKey(ctx, connectors.APIKeyID{UUID: *maker.ID})
		key := stored.Key
		if err != nil || stored.Tenant.ID != tenant || key.RevokedAt != nil || key.ExpiresAt != nil && !key.ExpiresAt.After(b.now()) {
			return "", err
		}
		return key.Role, nil
	default:
		return connectors.RoleMember, nil
	}
}

// isAccountUsable reports whether the connected account is usable, as far as known. An unreadable one is not.
func (b *Broker) isAccountUsable(ctx context.Context, p target) (bool, error) {
	g, err := b.store.Vault(p.tenant).NamedGrant(ctx, p.connector.ID, p.agentID(), p.account)
	if fault.Is(err, fault.Unavailable) {
		return false, err
	}
	alive := g.Status == connectors.CredentialActive || g.Status == connectors.CredentialRefreshFailed
	meta := g.Tokens.Meta
	lasts := meta.Refreshable || meta.ExpiryAssumed || g.ExpiresAt == nil || g.ExpiresAt.After(b.now())
	return err == nil && alive && lasts && g.Origin == p.connector.CredentialOrigin(), nil
}
