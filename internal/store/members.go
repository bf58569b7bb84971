package store

import (
	"context"
	"errors"
	"strings"

	"github.com/jackc/pgx/v5"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store/dbgen"
)

// Members lists the tenant's members by e-mail address.
func (t People) Members(ctx context.Context, p Page) (List[connectors.Member], error) {
	after, err := p.afterText("members")
	if err != nil {
		return List[connectors.Member]{}, err
	}
	rows, err := t.q.Members(ctx, t.id, after, p.rowLimit())
	if err != nil {
		return List[connectors.Member]{}, err
	}
	item := func(r dbgen.MembersRow) connectors.Member { return toMember(dbgen.MemberRow(r)) }
	return newList(p, rows, item, "members", func(r dbgen.MembersRow) []string { return []string{r.Email} }), nil
}

// Member reads one member.
func (t People) Member(ctx context.Context, id connectors.UserID) (connectors.Member, error) {
	row, err := t.q.Member(ctx, t.id, id)
	if err != nil {
		return connectors.Member{}, rowError(err, "member")
	}
	return toMember(row), nil
}

// IssueAccount makes a member with a new account that opens this tenant alone, and revokes open invitations to
// the address. An address of a member is a Conflict. Accounts in other tenants make no difference, and the
// response does not reveal them.
func (t People) IssueAccount(ctx context.Context, m NewMember) (connectors.Member, error) {
	m.Issued = true
	var member connectors.Member
	err := t.ensureTx(ctx, func(tx *Tenant) error {
		id, err := addMember(ctx, tx.q, tx.id, m)
		if err != nil {
			return err
		}
		if err := tx.q.RevokeInvitationsTo(ctx, tx.id, normalizeEmail(m.Email)); err != nil {
			return err
		}
		member, err = tx.People().Member(ctx, id)
		return err
	})
	return member, err
}

// AddMember makes a person a member with their own account: the existing one with its name and password, or a
// new one. It fails with Conflict for a member, and for an existing account if m.OnlyNew. It revokes open
// invitations to the address. event makes the audit entry; nil: none.
func (s SystemPeople) AddMember(ctx context.Context, tenant connectors.TenantID, m NewMember, event func(connectors.Member) Event) (connectors.Member, error) {
	var member connectors.Member
	err := s.inTx(ctx, func(tx *System) error {
		id, err := addMember(ctx, tx.q, tenant, m)
		if err != nil {
			return err
		}
		in := tx.tenantInTx(tenant)
		if err := in.q.RevokeInvitationsTo(ctx, tenant, normalizeEmail(m.Email)); err != nil {
			return err
		}
		if member, err = in.People().Member(ctx, id); err != nil || event == nil {
			return err
		}
		return in.RecordChange(ctx, event(member), nil, OfMember(id))
	})
	return member, err
}

func addMember(ctx context.Context, q *dbgen.Queries, tenant connectors.TenantID, m NewMember) (connectors.UserID, error) {
	id, err := addAccount(ctx, q, tenant, m)
	if err != nil {
		return id, err
	}
	return id, q.AddMembership(ctx, tenant, id, m.Role)
}

// addAccount creates the account of m. An existing account keeps its password.
func addAccount(ctx context.Context, q *dbgen.Queries, tenant connectors.TenantID, m NewMember) (connectors.UserID, error) {
	id, email, name := connectors.UserID{UUID: newID()}, normalizeEmail(m.Email), strings.TrimSpace(m.Name)
	addPassword := q.AddPassword
	var err error
	switch {
	case m.Issued:
		id, err = issueAccount(ctx, q, tenant, email, name)
		addPassword = q.AddIssuedPassword
	case m.OnlyNew:
		id, err = addNewUser(ctx, q, id, email, name)
	default:
		id, err = q.AddUser(ctx, id, email, name)
	}
	if err != nil || m.PasswordHash == "" {
		return id, err
	}
	return id, addPassword(ctx, id, m.PasswordHash)
}

// issueAccount creates an account that opens the tenant alone. Its key is tenant id and address.
func issueAccount(ctx context.Context, q *dbgen.Queries, tenant connectors.TenantID, email, name string) (connectors.UserID, error) {
	return q.IssueAccount(ctx, dbgen.IssueAccountParams{
		ID: connectors.UserID{UUID: newID()}, Email: tenant.String() + ":" + email, Name: name, IssuedBy: &tenant,
	})
}

func addNewUser(ctx context.Context, q *dbgen.Queries, id connectors.UserID, email, name string) (connectors.UserID, error) {
	id, err := q.AddNewUser(ctx, id, email, name)
	if !errors.Is(err, pgx.ErrNoRows) {
		return id, err
	}
	f := fault.Errorf(fault.Conflict, "This address already has an account.")
	f.Fields = []fault.Field{{Location: "email", Message: f.Message}}
	return id, f
}

// normalizeEmail returns an e-mail address as it is stored and compared.
func normalizeEmail(email string) string { return strings.ToLower(strings.TrimSpace(email)) }

// LockMember locks a membership until the transaction ends and returns its role.
func (t People) LockMember(ctx context.Context, id connectors.UserID) (connectors.Role, error) {
	role, err := t.q.LockMember(ctx, t.id, id)
	return role, rowError(err, "member")
}

// SetRole changes a member's role. It fails with Conflict for the last owner. The open invitations of a
// former owner are revoked.
func (t People) SetRole(ctx context.Context, id connectors.UserID, role connectors.Role) error {
	return t.ensureTx(ctx, func(tx *Tenant) error {
		if role != connectors.RoleOwner {
			if err := tx.requireOtherOwner(ctx, id); err != nil {
				return err
			}
			if err := tx.q.RevokeInvitationsBy(ctx, tx.id, id.UUID); err != nil {
				return err
			}
		}
		n, err := tx.q.SetMemberRole(ctx, role, tx.id, id)
		return affectedError(n, err, "member")
	})
}

// RemoveMember ends a membership, withdraws the member's requests for access and revokes the open invitations. It deletes an account that the
// tenant issued. It disables the member's personal agents and returns their slugs. It fails with Conflict for
// the last owner.
func (t People) RemoveMember(ctx context.Context, id connectors.UserID) (agents []string, err error) {
	err = t.ensureTx(ctx, func(tx *Tenant) error {
		if err := tx.requireOtherOwner(ctx, id); err != nil {
			return err
		}
		if err := tx.q.WithdrawAccessRequestsOf(ctx, tx.id, id.UUID); err != nil {
			return err
		}
		if err := tx.q.RevokeInvitationsBy(ctx, tx.id, id.UUID); err != nil {
			return err
		}
		if err := tx.q.ClearBreakGlass(ctx, tx.id, id.UUID); err != nil {
			return err
		}
		if agents, err = tx.disableMemberAgents(ctx, id); err != nil {
			return err
		}
		n, err := tx.q.RemoveMember(ctx, tx.id, id)
		if err := affectedError(n, err, "member"); err != nil {
			return err
		}
		return tx.q.DeleteIssuedAccount(ctx, id, &tx.id)
	})
	return agents, err
}

// requireOtherOwner fails if id is the only owner. It locks the owners' rows, so that of two owners leaving
// concurrently one is refused.
func (t *tenant) requireOtherOwner(ctx context.Context, id connectors.UserID) error {
	owners, err := t.q.LockOwners(ctx, t.id)
	if err != nil {
		return err
	}
	if len(owners) == 1 && owners[0] == id {
		return fault.Errorf(fault.Conflict, "This is the last owner. Make someone else an owner first.").WithType("last-owner")
	}
	return t.requireNotBreakGlass(ctx, id)
}

// requireNotBreakGlass fails if id is the break-glass owner, the one that an SSO-only tenant still admits by
// password.
func (t *tenant) requireNotBreakGlass(ctx context.Context, id connectors.UserID) error {
	kept, err := t.q.BreakGlass(ctx, t.id)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return err
	}
	if kept != nil && *kept == id {
		return fault.Errorf(fault.Conflict, "This is the break-glass owner of single sign-on. Choose another in the settings first.").WithType("break-glass")
	}
	return nil
}

func toMember(r dbgen.MemberRow) connectors.Member {
	return connectors.Member{
		UserID:    r.ID,
		Email:     r.Email,
		Name:      r.Name,
		Role:      r.Role,
		CreatedAt: r.CreatedAt.UTC(),
		SignedIn:  toUTC(r.SignedInAt),
		Seen:      toUTC(r.SeenAt),

		SecondFactor: r.SecondFactor,
	}
}
