package auth

import (
	"context"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/secret"
	"patchbay/internal/store"
)

// AddMember adds a person with a new account for this tenant alone, because the caller knows its password. The
// result does not reveal other accounts of the address.
func (s *Service) AddMember(ctx context.Context, a Actor, p Person) (connectors.Member, error) {
	if err := a.Require(connectors.PermOwn); err != nil {
		return connectors.Member{}, err
	}
	m, err := s.newMember(ctx, p)
	if err != nil {
		return connectors.Member{}, err
	}
	var member connectors.Member
	err = s.store.Tenant(a.Tenant.ID).Tx(ctx, func(tx *store.Tenant) error {
		if member, err = tx.People().IssueAccount(ctx, m); err != nil {
			return err
		}
		return tx.RecordChange(ctx, newMemberEvent(a, member), nil, store.OfMember(member.UserID))
	})
	return member, err
}

func newMemberEvent(a Actor, m connectors.Member) store.Event {
	e := a.Event("member.add", m.Email)
	e.Detail = map[string]any{"user_id": m.UserID.String(), "role": m.Role}
	return e
}

// SetMemberRole changes a member's role. The last owner cannot change.
func (s *Service) SetMemberRole(ctx context.Context, a Actor, user connectors.UserID, role connectors.Role) error {
	if err := a.Require(connectors.PermOwn); err != nil {
		return err
	}
	if !role.Valid() {
		return fault.InvalidFields(newRoleFault())
	}
	return s.store.Tenant(a.Tenant.ID).Tx(ctx, func(tx *store.Tenant) error {
		was, err := tx.LockAndReadState(ctx, store.OfMember(user))
		if err != nil {
			return err
		}
		if err := tx.People().SetRole(ctx, user, role); err != nil {
			return err
		}
		e := memberEvent(a, "member.role", user, was)
		e.Detail["role"] = role
		return tx.RecordChange(ctx, e, was, store.OfMember(user))
	})
}

// RemoveMember ends a membership. The last owner cannot leave.
func (s *Service) RemoveMember(ctx context.Context, a Actor, user connectors.UserID) error {
	if err := a.Require(connectors.PermOwn); err != nil {
		return err
	}
	return s.store.Tenant(a.Tenant.ID).Tx(ctx, func(tx *store.Tenant) error {
		was, err := tx.LockAndReadState(ctx, store.OfMember(user))
		if err != nil {
			return err
		}
		agents, err := tx.People().RemoveMember(ctx, user)
		if err != nil {
			return err
		}
		e := memberEvent(a, "member.remove", user, was)
		if len(agents) > 0 {
			e.Detail["disabled_agents"] = agents
		}
		return tx.RecordChange(ctx, e, was, store.OfMember(user))
	})
}

// memberEvent returns an event about a member, with the address: the account may be deleted later.
func memberEvent(a Actor, action string, user connectors.UserID, was store.State) store.Event {
	email, _ := was["email"].(string)
	e := a.Event(action, email)
	e.Detail = map[string]any{"user_id": user.String()}
	return e
}

// ChangePassword sets the person's password after checking the present one. Failures count as failed sign-ins.
// All other sessions end.
func (s *Service) ChangePassword(ctx context.Context, a Actor, present, next secret.Text) error {
	if a.UserID == nil {
		return fault.Errorf(fault.Denied, "Only people have passwords.")
	}
	if err := CheckPassword("new_password", next); err != nil {
		return err
	}
	if _, err := s.checkOwnPassword(ctx, a, present); err != nil {
		if fault.Is(err, fault.Unauthenticated) {
			return fault.InvalidFields(fault.Field{Location: "current_password", Message: "Wrong password."})
		}
		return err
	}
	if !a.Issued {
		if err := s.refuseIssuedPassword(ctx, "new_password", a.Email, next); err != nil {
			return err
		}
	}
	hash, err := s.HashPassword(ctx, a.Email, next)
	if err != nil {
		return err
	}
	if err := s.store.System().People().ChangePassword(ctx, *a.UserID, hash, a.Session, a.Tenant.ID, a.Event("account.password", a.Email)); err != nil {
		return fmt.Errorf("set password: %w", err)
	}
	return s.keepSession(ctx, a)
}

func checkPerson(p Person) error {
	var fields []fault.Field
	if !isAddress(p.Email) {
		fields = append(fields, newAddressFault())
	}
	if utf8.RuneCountInString(p.Name) > 200 {
		fields = append(fields, fault.Field{Location: "name", Message: "At most 200 characters."})
	} else if !isPlainName(p.Name) {
		fields = append(fields, newNameFault())
	}
	if !p.Role.Valid() {
		fields = append(fields, newRoleFault())
	}
	if !isAllowedPassword(p.Password) {
		fields = append(fields, newPasswordFault("password"))
	}
	return fault.InvalidFields(fields...)
}

// isPlainName reports whether a name is one line without control or bidirectional characters.
func isPlainName(name string) bool {
	return utf8.ValidString(name) && !strings.ContainsFunc(name, func(r rune) bool {
		return unicode.IsControl(r) || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 // bidirectional overrides and isolates
	})
}

// checkName checks the name of a tenant or a key.
func checkName(name string) []fault.Field {
	if n := utf8.RuneCountInString(name); n < 1 || n > 100 {
		return []fault.Field{{Location: "name", Message: "Must be 1–100 characters."}}
	}
	if !isPlainName(name) {
		return []fault.Field{newNameFault()}
	}
	return nil
}

func newNameFault() fault.Field {
	return fault.Field{Location: "name", Message: "No control characters allowed."}
}

func newRoleFault() fault.Field {
	return fault.Field{Location: "role", Message: "Choose viewer, member, admin, owner or auditor."}
}
