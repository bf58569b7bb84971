package sso

import (
	"context"
	"strings"
	"unicode/utf8"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/secret"
	"patchbay/internal/store"
)

// maxGroups bounds the groups that give a role.
const maxGroups = 200

// Change is a change of settings. Nil fields stay.
type Change struct {
	Issuer       *string
	ClientID     *string
	ClientSecret secret.Text // empty: unchanged
	GroupsClaim  *string
	Groups       *[]connectors.GroupRole
	Joins        *bool
	DefaultRole  *connectors.Role // empty: none
	Enabled      *bool
	Enforced     *bool
	BreakGlass   *connectors.UserID // zero id: none

	ManagedAccounts *bool
	ManagedClients  *bool
}

// Settings returns the tenant's settings, for an owner.
func (s *Service) Settings(ctx context.Context, a auth.Actor) (connectors.SSO, error) {
	if err := a.Require(connectors.PermOwn); err != nil {
		return connectors.SSO{}, err
	}
	return s.store.Tenant(a.Tenant.ID).SSO().Get(ctx)
}

// Save changes the settings of the actor's tenant. Another provider or client, and managed accounts, turn single sign-on off until
// an owner has tested it.
func (s *Service) Save(ctx context.Context, a auth.Actor, c Change) (connectors.SSO, error) {
	if err := a.Require(connectors.PermOwn); err != nil {
		return connectors.SSO{}, err
	}
	var after connectors.SSO
	err := s.store.Tenant(a.Tenant.ID).Tx(ctx, func(tx *store.Tenant) error {
		was, err := tx.LockAndReadState(ctx, store.OfSSO())
		if err != nil {
			return err
		}
		before, err := tx.SSO().Lock(ctx)
		if err != nil {
			return err
		}
		after = c.applyTo(before)
		if err := s.checkSettings(ctx, tx, a, before, after, c.ClientSecret); err != nil {
			return err
		}
		if err := tx.SSO().Save(ctx, after, c.ClientSecret); err != nil {
			return err
		}
		if changesProvider(before, after) {
			if err := tx.People().EndSSOSessions(ctx); err != nil { // they would open again with the next provider
				return err
			}
		}
		if changesProvider(before, after) || before.ManagedAccounts && !after.ManagedAccounts {
			if err := tx.SSO().DeleteTokens(ctx); err != nil {
				return err
			}
		}
		if err := tx.RecordChange(ctx, a.Event("sso.configure", after.Issuer), was, store.OfSSO()); err != nil {
			return err
		}
		after, err = tx.SSO().Get(ctx)
		return err
	})
	return after, err
}

// changesProvider reports whether people no longer sign in where they did.
func changesProvider(before, after connectors.SSO) bool {
	return after.Issuer != before.Issuer || after.ClientID != before.ClientID || after.Enabled != before.Enabled
}

// Forget turns single sign-on off and deletes the provider with its client secret. The domains stay.
func (s *Service) Forget(ctx context.Context, a auth.Actor) error {
	if err := a.Require(connectors.PermOwn); err != nil {
		return err
	}
	return s.store.Tenant(a.Tenant.ID).Tx(ctx, func(tx *store.Tenant) error {
		was, err := tx.LockAndReadState(ctx, store.OfSSO())
		if err != nil {
			return err
		}
		before, err := tx.SSO().Lock(ctx)
		if err != nil {
			return err
		}
		if err := checkStaysIn(a, before, connectors.SSO{}); err != nil {
			return err
		}
		if err := tx.SSO().Delete(ctx); err != nil {
			return err
		}
		return tx.RecordChange(ctx, a.Event("sso.forget", before.Issuer), was, store.OfSSO())
	})
}

// applyTo returns s with the change, and the issuer's host in xn-- form.
func (c Change) applyTo(s connectors.SSO) connectors.SSO {
	was := s
	setIfGiven(&s.Issuer, c.Issuer)
	setIfGiven(&s.ClientID, c.ClientID)
	setIfGiven(&s.GroupsClaim, c.GroupsClaim)
	setIfGiven(&s.Groups, c.Groups)
	setIfGiven(&s.Joins, c.Joins)
	setIfGiven(&s.DefaultRole, c.DefaultRole)
	setIfGiven(&s.Enabled, c.Enabled)
	setIfGiven(&s.Enforced, c.Enforced)
	setIfGiven(&s.ManagedAccounts, c.ManagedAccounts)
	setIfGiven(&s.ManagedClients, c.ManagedClients)
	if c.BreakGlass != nil {
		s.BreakGlass = c.BreakGlass
		if *c.BreakGlass == (connectors.UserID{}) {
			s.BreakGlass = nil
		}
	}
	s.Issuer = asciiURL(strings.TrimSpace(s.Issuer))
	s.ClientID, s.GroupsClaim = strings.TrimSpace(s.ClientID), strings.TrimSpace(s.GroupsClaim)
	if s.GroupsClaim == "" {
		s.GroupsClaim = "groups"
	}
	// With managed accounts a sign-in asks for more, which the provider may refuse.
	if s.Issuer != was.Issuer || s.ClientID != was.ClientID || s.ManagedAccounts && !was.ManagedAccounts {
		s.TestedAt, s.Enabled = nil, false
	}
	if !s.Enabled {
		s.Enforced = false
	}
	return s
}

func setIfGiven[T any](field, value *T) {
	if value != nil {
		*field = *value
	}
}

// checkSettings validates the settings.
func (s *Service) checkSettings(ctx context.Context, tx *store.Tenant, a auth.Actor, before, after connectors.SSO, client secret.Text) error {
	fields := s.checkProvider(before, after, client)
	fields = append(fields, checkGroups(after)...)
	if after.Enabled && after.TestedAt == nil {
		fields = append(fields, fault.Field{Location: "enabled", Message: "Test the connection first."})
	}
	if after.Enabled && !hasDomain(after) {
		fields = append(fields, fault.Field{Location: "enabled", Message: "Verify an email domain first."})
	}
	if err := fault.InvalidFields(fields...); err != nil {
		return err
	}
	if err := checkBreakGlass(ctx, tx, after); err != nil {
		return err
	}
	return checkStaysIn(a, before, after)
}

func (s *Service) checkProvider(before, after connectors.SSO, client secret.Text) []fault.Field {
	var fields []fault.Field
	u, err := s.checkURL(after.Issuer)
	switch {
	case after.Issuer == "":
		fields = append(fields, fault.Field{Location: "issuer", Message: "Enter the provider's URL, like https://login.example.com."})
	case err != nil:
		fields = append(fields, fault.Field{Location: "issuer", Message: err.Error()})
	case u.RawQuery != "" || u.ForceQuery:
		fields = append(fields, fault.Field{Location: "issuer", Message: "A provider URL can't contain a question mark."})
	}
	if n := utf8.RuneCountInString(after.ClientID); n < 1 || n > 500 {
		fields = append(fields, fault.Field{Location: "client_id", Message: "Enter the client ID from your provider."})
	}
	if client.Empty() && after.Issuer != before.Issuer {
		fields = append(fields, fault.Field{Location: "client_secret", Message: "Enter the client secret. Each provider needs its own."})
	}
	if len(client.Reveal()) > 4096 {
		fields = append(fields, fault.Field{Location: "client_secret", Message: "A client secret has at most 4096 characters."})
	}
	if utf8.RuneCountInString(after.GroupsClaim) > 200 {
		fields = append(fields, fault.Field{Location: "groups_claim", Message: "A claim name has at most 200 characters."})
	}
	return fields
}

func checkGroups(after connectors.SSO) []fault.Field {
	var fields []fault.Field
	wrong := func(message string) { fields = []fault.Field{{Location: "groups", Message: message}} }
	seen := map[string]bool{}
	for _, g := range after.Groups {
		switch n := utf8.RuneCountInString(g.Group); {
		case n < 1 || n > 200:
			wrong("A group name has 1 to 200 characters.")
		case !g.Role.Valid():
			wrong("Enter one group and role per line, like engineers = admin. Roles: viewer, member, admin, owner, auditor.")
		case seen[g.Group]:
			wrong("A group is listed twice.")
		}
		seen[g.Group] = true
	}
	if len(after.Groups) > maxGroups {
		wrong("At most 200 groups have a role.")
	}
	if r := after.DefaultRole; r != "" && (!r.Valid() || r == connectors.RoleOwner || r == connectors.RoleAuditor) {
		fields = append(fields, fault.Field{Location: "default_role", Message: "Choose viewer, member or admin."})
	}
	if after.Joins && after.DefaultRole == "" && len(after.Groups) == 0 {
		fields = append(fields, fault.Field{Location: "joins", Message: "Choose a role for new members: map a group, or set one for everyone else."})
	}
	return fields
}

func hasDomain(s connectors.SSO) bool {
	for _, d := range s.Domains {
		if d.VerifiedAt != nil {
			return true
		}
	}
	return false
}

// checkBreakGlass refuses to enforce single sign-on unless an owner can sign in without the provider.
func checkBreakGlass(ctx context.Context, tx *store.Tenant, after connectors.SSO) error {
	if after.BreakGlass == nil {
		if after.Enforced {
			return newLockoutError("Choose a break-glass owner.")
		}
		return nil
	}
	m, err := tx.People().Member(ctx, *after.BreakGlass)
	if fault.Is(err, fault.NotFound) || err == nil && m.Role != connectors.RoleOwner {
		return newLockoutError("Choose an owner.")
	}
	if err != nil {
		return err
	}
	opens, err := tx.SSO().PasswordOpens(ctx, m.UserID)
	if err != nil {
		return err
	}
	if !opens {
		return newLockoutError("This owner can't sign in to your organisation with a password.")
	}
	return nil
}

func newLockoutError(message string) error {
	return fault.InvalidFields(fault.Field{Location: "break_glass", Message: message})
}

// checkStaysIn refuses a change that would end the actor's own session.
func checkStaysIn(a auth.Actor, before, after connectors.SSO) error {
	if a.BySSO && before.Enabled && !after.Enabled {
		return fault.Errorf(fault.Conflict, "This would turn off single sign-on and sign you out. Ask an owner who signs in with a password.")
	}
	return nil
}
