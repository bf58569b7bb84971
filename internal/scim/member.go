package scim

import (
	"context"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
)

// roleOf returns the role of a user in groups; false: no membership. decides is false if a member keeps the role they have.
func (c *change) roleOf(groups []string) (role connectors.Role, ok, decides bool) {
	switch {
	case c.byGroups:
		role, ok = c.settings.RoleOf(groups)
		return role, ok, true
	case c.settings.DefaultRole != "":
		return c.settings.DefaultRole, true, false
	default: // groups of the ID token may give another role at a sign-in
		return connectors.RoleViewer, !c.settings.Governs(), false
	}
}

// applyMembership makes a stored user a member, changes their role, or ends the membership.
func (c *change) applyMembership(ctx context.Context, u *connectors.SCIMUser) error {
	groups, err := c.tx.SCIM().GroupsOf(ctx, []connectors.SCIMUserID{u.ID})
	if err != nil {
		return err
	}
	var names []string
	for _, g := range groups[u.ID] {
		names = append(names, g.DisplayName)
	}
	role, ok, decides := c.roleOf(names)
	switch {
	case !ok && !decides: // a member by other means stays
		return nil
	case !ok && u.Member == nil:
		return nil
	case !ok:
		return c.endRole(ctx, u)
	case u.Member == nil:
		return c.joinMember(ctx, u, role, decides)
	case decides:
		return c.setRole(ctx, *u.Member, role)
	}
	return nil
}

// joinMember links a user to the member with their address, or makes a new member for single sign-on.
func (c *change) joinMember(ctx context.Context, u *connectors.SCIMUser, role connectors.Role, decides bool) error {
	m, err := c.tx.SSO().MemberByEmail(ctx, u.Email)
	isNew := fault.Is(err, fault.NotFound)
	if isNew {
		m, err = c.tx.SSO().JoinBySSO(ctx, store.NewMember{Email: u.Email, Name: displayName(u), Role: role})
	}
	if err != nil {
		return err
	}
	if err := c.tx.SCIM().LinkMember(ctx, u.ID, m.UserID); err != nil {
		return err
	}
	u.Member = &m.UserID
	if isNew {
		return c.recordMember(ctx, "member.add", m.UserID, m.Email, nil, nil)
	}
	if !decides {
		return nil
	}
	return c.setRole(ctx, m.UserID, role)
}

// setRole changes a member's role. An owner that the tenant needs keeps it.
func (c *change) setRole(ctx context.Context, member connectors.UserID, role connectors.Role) error {
	m, err := c.tx.People().Member(ctx, member)
	if err != nil || m.Role == role {
		return err
	}
	if err := c.checkOwnerStays(ctx, m); err != nil {
		return ignoreConflict(err)
	}
	was, err := c.tx.State(ctx, store.OfMember(member))
	if err != nil {
		return err
	}
	if err := c.tx.People().SetRole(ctx, member, role); err != nil {
		return ignoreConflict(err)
	}
	return c.recordMember(ctx, "member.role", member, m.Email, was, nil)
}

// ignoreConflict drops the Conflict of an owner that the tenant needs.
func ignoreConflict(err error) error {
	if fault.Is(err, fault.Conflict) {
		return nil
	}
	return err
}

// endRole ends the membership of a user without a role, unless the tenant needs the owner.
func (c *change) endRole(ctx context.Context, u *connectors.SCIMUser) error {
	err := c.endMembership(ctx, u)
	c.refused = nil
	return ignoreConflict(err)
}

// endMembership ends a user's membership with the member's sessions, tokens and accounts. It fails with Conflict if
// the tenant needs the owner. For a user without a member, it ends the membership with the user's address.
func (c *change) endMembership(ctx context.Context, u *connectors.SCIMUser) error {
	m, err := c.findMember(ctx, u)
	if fault.Is(err, fault.NotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	was, err := c.tx.State(ctx, store.OfMember(m.UserID))
	if err != nil {
		return err
	}
	if err := c.checkOwnerStays(ctx, m); err != nil {
		return c.noteRefusal(m, err)
	}
	agents, err := c.tx.SCIM().Deprovision(ctx, m.UserID)
	if err != nil {
		return c.noteRefusal(m, err)
	}
	u.Member = nil
	return c.recordMember(ctx, "member.remove", m.UserID, m.Email, was, agents)
}

func (c *change) findMember(ctx context.Context, u *connectors.SCIMUser) (connectors.Member, error) {
	if u.Member != nil {
		return c.tx.People().Member(ctx, *u.Member)
	}
	return c.tx.SSO().MemberByEmail(ctx, u.Email)
}

// noteRefusal keeps a Conflict for the audit log.
func (c *change) noteRefusal(m connectors.Member, err error) error {
	if fault.Is(err, fault.Conflict) {
		c.refused = &refusal{email: m.Email, why: err}
	}
	return err
}

// checkOwnerStays refuses to take the role of the break-glass owner and, without single sign-on, of the last owner
// with a password: no owner could sign in to undo it. The store keeps the last owner.
func (c *change) checkOwnerStays(ctx context.Context, m connectors.Member) error {
	if m.Role != connectors.RoleOwner {
		return nil
	}
	if b := c.settings.BreakGlass; b != nil && *b == m.UserID {
		return fault.Errorf(fault.Conflict, "This is the break-glass owner of single sign-on. Choose another in the settings first.").WithType("break-glass")
	}
	if c.settings.Enabled {
		return nil
	}
	opens, err := c.tx.SSO().PasswordOpens(ctx, m.UserID)
	if err != nil || !opens {
		return err
	}
	others, err := c.tx.SCIM().HasOtherPasswordOwner(ctx, m.UserID)
	if err == nil && !others {
		err = fault.Errorf(fault.Conflict, "This is the last owner who can sign in. Make someone else an owner first.").WithType("last-owner")
	}
	return err
}

// recordMember audits a member that the provider adds, changes or removes.
func (c *change) recordMember(ctx context.Context, action string, member connectors.UserID, email string, was store.State, disabled []string) error {
	detail := map[string]any{"user_id": member.String(), "by": "scim"}
	if len(disabled) > 0 {
		detail["disabled_agents"] = disabled
	}
	return c.recordEvent(ctx, action, email, was, store.OfMember(member), detail)
}
