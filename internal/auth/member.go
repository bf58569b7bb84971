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

// AddMember makes a person a member of the actor's tenant, with a new account, which opens this tenant alone: whoever makes the request
// knows its password. Accounts that the address has elsewhere make no difference, and cannot be told from the answer.
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
		if member, err = tx.IssueAccount(ctx, m); err != nil {
			return err
		}
		return tx.RecordChange(ctx, added(a, member), nil, store.OfMember(member.UserID))
	})
	return member, err
}

func added(a Actor, m connectors.Member) store.Event {
	e := a.Event("member.add", m.Email)
	e.Detail = map[string]any{"user_id": m.UserID.String(), "role": m.Role}
	return e
}

// SetMemberRole changes what a member of the actor's tenant may do. The last owner stays one.
func (s *Service) SetMemberRole(ctx context.Context, a Actor, user connectors.UserID, role connectors.Role) error {
	if err := a.Require(connectors.PermOwn); err != nil {
		return err
	}
	if !role.Valid() {
		return fault.InvalidFields(badRole())
	}
	return s.store.Tenant(a.Tenant.ID).Tx(ctx, func(tx *store.Tenant) error {
		was, err := tx.Before(ctx, store.OfMember(user))
		if err != nil {
			return err
		}
		if err := tx.SetMemberRole(ctx, user, role); err != nil {
			return err
		}
		e := aboutMember(a, "member.role", user, was)
		e.Detail["role"] = role
		return tx.RecordChange(ctx, e, was, store.OfMember(user))
	})
}

// RemoveMember ends a membership. The last owner stays.
func (s *Service) RemoveMember(ctx context.Context, a Actor, user connectors.UserID) error {
	if err := a.Require(connectors.PermOwn); err != nil {
		return err
	}
	return s.store.Tenant(a.Tenant.ID).Tx(ctx, func(tx *store.Tenant) error {
		was, err := tx.Before(ctx, store.OfMember(user))
		if err != nil {
			return err
		}
		agents, err := tx.RemoveMember(ctx, user)
		if err != nil {
			return err
		}
		e := aboutMember(a, "member.remove", user, was)
		if len(agents) > 0 {
			e.Detail["disabled_agents"] = agents
		}
		return tx.RecordChange(ctx, e, was, store.OfMember(user))
	})
}

// aboutMember is an event about a member, by the address: the person may be nowhere any more when it is read.
func aboutMember(a Actor, action string, user connectors.UserID, was store.State) store.Event {
	email, _ := was["email"].(string)
	e := a.Event(action, email)
	e.Detail = map[string]any{"user_id": user.String()}
	return e
}

// ChangePassword sets the password of the person who makes the request, who must know the present one. Guesses at it
// count as wrong sign-ins. All the person's sessions end but this one.
func (s *Service) ChangePassword(ctx context.Context, a Actor, present, next secret.Text) error {
	if a.UserID == nil {
		return fault.Errorf(fault.Denied, "Only a person has a password.")
	}
	if err := CheckPassword("new_password", next); err != nil {
		return err
	}
	if _, err := s.checkOwnPassword(ctx, a, present); err != nil {
		if fault.Is(err, fault.Unauthenticated) {
			return fault.InvalidFields(fault.Field{Location: "current_password", Message: "This is not your present password."})
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
	if err := s.store.System().ChangePassword(ctx, *a.UserID, hash, a.Session, a.Tenant.ID, a.Event("account.password", a.Email)); err != nil {
		return fmt.Errorf("set password: %w", err)
	}
	return s.keepSession(ctx, a)
}

func checkPerson(p Person) error {
	var fields []fault.Field
	if !isAddress(p.Email) {
		fields = append(fields, badAddress())
	}
	if utf8.RuneCountInString(p.Name) > 200 {
		fields = append(fields, fault.Field{Location: "name", Message: "A name has at most 200 characters."})
	} else if !plainName(p.Name) {
		fields = append(fields, oddName())
	}
	if !p.Role.Valid() {
		fields = append(fields, badRole())
	}
	if !goodPassword(p.Password) {
		fields = append(fields, badPassword("password"))
	}
	return fault.InvalidFields(fields...)
}

// plainName tells whether a name is one line of text that reads as it is written: it stands in lists, on terminals and in the
// audit log.
func plainName(name string) bool {
	return utf8.ValidString(name) && !strings.ContainsFunc(name, func(r rune) bool {
		return unicode.IsControl(r) || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 // direction overrides and isolates
	})
}

// checkName tells what is wrong with the name of a tenant or a key.
func checkName(name string) []fault.Field {
	if n := utf8.RuneCountInString(name); n < 1 || n > 100 {
		return []fault.Field{{Location: "name", Message: "A name has 1 to 100 characters."}}
	}
	if !plainName(name) {
		return []fault.Field{oddName()}
	}
	return nil
}

func oddName() fault.Field {
	return fault.Field{Location: "name", Message: "A name holds no control characters."}
}

func badRole() fault.Field {
	return fault.Field{Location: "role", Message: "The role is viewer, member, admin, owner or auditor."}
}
