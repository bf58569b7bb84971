package sso

import (
	"context"
	"fmt"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
)

// admitMember finds or makes the member of an identity, and applies the role of the provider's groups.
//
// A known subject is its member, whatever its address now. A new subject is the member with its address: the
// domain is verified, and the provider has verified the address. Otherwise it becomes a new member, if the
// settings allow it.
func (s *Service) admitMember(ctx context.Context, r Return, tenant connectors.TenantID, settings connectors.SSO, who identity) (connectors.Member, error) {
	var member connectors.Member
	var refusal error // a refusal that ends a membership is committed
	err := s.store.Tenant(tenant).Tx(ctx, func(tx *store.Tenant) error {
		now, err := tx.SSO().Lock(ctx)
		if err != nil {
			return err
		}
		if now.Issuer != settings.Issuer || now.ClientID != settings.ClientID || !now.Enabled || !now.Covers(who.Email) {
			return errChanged() // settings may have changed during the provider's requests
		}
		settings = now
		a := admission{tx: tx, settings: settings, who: who, by: auth.Actor{Kind: auth.KindPerson, RequestID: r.RequestID, Address: r.Address}}
		m, isNew, err := a.findMember(ctx)
		if err != nil {
			return err
		}
		if !isNew {
			if refusal, err = a.applyGroupRole(ctx, &m); err != nil || refusal != nil {
				return err
			}
		}
		if err := tx.SSO().BindSSOSubject(ctx, who.Subject, m.UserID, who.Email); err != nil {
			return err
		}
		if settings.ManagedAccounts {
			if err := tx.SSO().SaveTokens(ctx, m.UserID, who.Subject.Issuer, who.tokens); err != nil {
				return err
			}
		}
		member = m
		return a.recordEvent(ctx, m, "sso.sign_in", who.Subject.Issuer, map[string]any{"subject": who.Subject.ID, "email": who.Email, "groups": who.Groups, "role": m.Role})
	})
	if err == nil {
		err = refusal
	}
	if err != nil {
		return connectors.Member{}, err
	}
	if err := s.store.System().People().RecordSignIn(ctx, member.UserID); err != nil {
		return connectors.Member{}, fmt.Errorf("note sign-in: %w", err)
	}
	return member, nil
}

// admission is the admission of one identity.
type admission struct {
	tx       *store.Tenant
	settings connectors.SSO
	who      identity
	by       auth.Actor
}

// findMember returns the member of the identity. A new one gets the role of the groups.
func (a admission) findMember(ctx context.Context) (m connectors.Member, isNew bool, err error) {
	gone, err := a.tx.SCIM().IsDeactivated(ctx, a.who.Email)
	if err != nil {
		return m, false, err
	}
	if gone {
		return m, false, newRefusal("sso-deactivated", fault.Denied, "Your organisation has deactivated your account.")
	}
	m, err = a.tx.SSO().MemberBySubject(ctx, a.who.Subject)
	if fault.Is(err, fault.NotFound) {
		m, err = a.tx.SSO().MemberByEmail(ctx, a.who.Email)
	}
	if !fault.Is(err, fault.NotFound) {
		return m, false, err
	}
	if !a.settings.Joins {
		return m, false, newRefusal("sso-no-member", fault.Denied, "You're not a member here yet. Ask an owner to add you.")
	}
	role, ok := a.settings.RoleOf(a.who.Groups)
	if !ok {
		return m, false, errNoGroup()
	}
	m, err = a.tx.SSO().JoinBySSO(ctx, store.NewMember{Email: a.who.Email, Name: connectors.CleanPersonName(a.who.Name), Role: role})
	if err != nil {
		return m, false, err
	}
	return m, true, a.recordChange(ctx, m, "member.join", nil)
}

// applyGroupRole applies the role of the groups, or ends the membership without one. The last owner and the
// break-glass owner keep their role.
func (a admission) applyGroupRole(ctx context.Context, m *connectors.Member) (refusal, err error) {
	if !a.settings.Governs() || a.settings.BreakGlass != nil && *a.settings.BreakGlass == m.UserID {
		return nil, nil
	}
	was, err := a.tx.LockAndReadState(ctx, store.OfMember(m.UserID))
	if err != nil {
		return nil, err
	}
	if given, err := a.tx.SCIM().GivesRole(ctx, m.UserID); err != nil || given { // by the same groups, which may be newer than the token
		return nil, err
	}
	role, ok := a.settings.RoleOf(a.who.Groups)
	if !ok {
		agents, err := a.tx.People().RemoveMember(ctx, m.UserID)
		if fault.Is(err, fault.Conflict) { // the last owner
			return errNoGroup(), nil
		}
		if err != nil {
			return nil, err
		}
		return errNoGroup(), a.recordChange(ctx, *m, "member.remove", was, agents...)
	}
	if role == m.Role {
		return nil, nil
	}
	err = a.tx.People().SetRole(ctx, m.UserID, role)
	if fault.Is(err, fault.Conflict) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	m.Role = role
	return nil, a.recordChange(ctx, *m, "member.role", was)
}

// recordChange audits a member that the provider's data creates, changes or removes.
func (a admission) recordChange(ctx context.Context, m connectors.Member, action string, was store.State, disabled ...string) error {
	by := a.by
	by.UserID, by.Name = &m.UserID, m.DisplayName()
	e := by.Event(action, m.Email)
	e.Detail = map[string]any{"user_id": m.UserID.String(), "by": "sso", "groups": a.who.Groups}
	if len(disabled) > 0 {
		e.Detail["disabled_agents"] = disabled
	}
	return a.tx.RecordChange(ctx, e, was, store.OfMember(m.UserID))
}

func (a admission) recordEvent(ctx context.Context, m connectors.Member, action, target string, detail map[string]any) error {
	by := a.by
	by.UserID, by.Name = &m.UserID, m.DisplayName()
	e := by.Event(action, target)
	e.Detail = detail
	return a.tx.Audit().Record(ctx, e)
}
