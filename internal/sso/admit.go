package sso

import (
	"context"
	"fmt"
	"strings"
	"unicode"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
)

// admit finds the member that somebody is, or makes one, and applies the roles that the provider's groups give.
//
// A subject that was here before is who it was, whatever its address is now. A new subject is the member with its address: the tenant has
// proven that the domain is its own, and its provider that the address is the person's. Else it is a new member, where these are made.
func (s *Service) admit(ctx context.Context, r Return, tenant connectors.TenantID, settings connectors.SSO, who identity) (connectors.Member, error) {
	var member connectors.Member
	var refusal error // one that ends a membership is committed
	err := s.store.Tenant(tenant).Tx(ctx, func(tx *store.Tenant) error {
		now, err := tx.SSO(ctx)
		if err != nil {
			return err
		}
		if now.Issuer != settings.Issuer || now.ClientID != settings.ClientID || !now.Enabled || !now.Covers(who.Email) {
			return changedMeanwhile() // the provider was asked in between, for as long as it liked
		}
		settings = now
		a := admission{tx: tx, settings: settings, who: who, by: auth.Actor{Kind: auth.KindPerson, RequestID: r.RequestID, Address: r.Address}}
		m, isNew, err := a.find(ctx)
		if err != nil {
			return err
		}
		if !isNew {
			if refusal, err = a.govern(ctx, &m); err != nil || refusal != nil {
				return err
			}
		}
		if err := tx.Bind(ctx, who.Subject, m.UserID); err != nil {
			return err
		}
		member = m
		return a.record(ctx, m, "sso.sign_in", who.Subject.Issuer, map[string]any{"subject": who.Subject.ID, "email": who.Email, "groups": who.Groups, "role": m.Role})
	})
	if err == nil {
		err = refusal
	}
	if err != nil {
		return connectors.Member{}, err
	}
	if err := s.store.System().SignedIn(ctx, member.UserID); err != nil {
		return connectors.Member{}, fmt.Errorf("note sign-in: %w", err)
	}
	return member, nil
}

// admission is one person at the door.
type admission struct {
	tx       *store.Tenant
	settings connectors.SSO
	who      identity
	by       auth.Actor
}

// find is the member that the person is. One who is made just now has the role of the person's groups.
func (a admission) find(ctx context.Context) (m connectors.Member, isNew bool, err error) {
	m, err = a.tx.MemberOf(ctx, a.who.Subject)
	if fault.Is(err, fault.NotFound) {
		m, err = a.tx.MemberAt(ctx, a.who.Email)
	}
	if !fault.Is(err, fault.NotFound) {
		return m, false, err
	}
	if !a.settings.Joins {
		return m, false, refuse("sso-no-member", fault.Denied, "You are no member here yet. Ask an owner of your organisation to add you.")
	}
	role, ok := a.settings.RoleOf(a.who.Groups)
	if !ok {
		return m, false, noGroup()
	}
	m, err = a.tx.JoinBySSO(ctx, store.NewMember{Email: a.who.Email, Name: plainName(a.who.Name), Role: role})
	if err != nil {
		return m, false, err
	}
	return m, true, a.recordChange(ctx, m, "member.join", nil)
}

// govern gives a member the role of the person's groups, or ends the membership where there is none. The last owner stays one, and so
// does the owner whose password is the way in without the provider.
func (a admission) govern(ctx context.Context, m *connectors.Member) (refusal, err error) {
	if !a.settings.Governs() || a.settings.BreakGlass != nil && *a.settings.BreakGlass == m.UserID {
		return nil, nil
	}
	was, err := a.tx.Before(ctx, store.OfMember(m.UserID))
	if err != nil {
		return nil, err
	}
	role, ok := a.settings.RoleOf(a.who.Groups)
	if !ok {
		agents, err := a.tx.RemoveMember(ctx, m.UserID)
		if fault.Is(err, fault.Conflict) { // the last owner
			return noGroup(), nil
		}
		if err != nil {
			return nil, err
		}
		return noGroup(), a.recordChange(ctx, *m, "member.remove", was, agents...)
	}
	if role == m.Role {
		return nil, nil
	}
	err = a.tx.SetMemberRole(ctx, m.UserID, role)
	if fault.Is(err, fault.Conflict) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	m.Role = role
	return nil, a.recordChange(ctx, *m, "member.role", was)
}

// recordChange tells of a member whom the provider's word makes, changes or ends.
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

func (a admission) record(ctx context.Context, m connectors.Member, action, target string, detail map[string]any) error {
	by := a.by
	by.UserID, by.Name = &m.UserID, m.DisplayName()
	e := by.Event(action, target)
	e.Detail = detail
	return a.tx.Record(ctx, e)
}

// plainName is a name as the provider says it, on one line and not too long.
func plainName(name string) string {
	name = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 { // direction overrides and isolates
			return -1
		}
		return r
	}, name)
	if runes := []rune(strings.TrimSpace(name)); len(runes) > 200 {
		return string(runes[:200])
	}
	return strings.TrimSpace(name)
}
