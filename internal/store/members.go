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

// Members lists the tenant's people by e-mail address.
func (t *Tenant) Members(ctx context.Context, p Page) (List[connectors.Member], error) {
	after, err := p.afterText("members")
	if err != nil {
		return List[connectors.Member]{}, err
	}
	rows, err := t.q.Members(ctx, t.id, after, p.rows())
	if err != nil {
		return List[connectors.Member]{}, err
	}
	item := func(r dbgen.MembersRow) connectors.Member { return memberOf(dbgen.MemberRow(r)) }
	return listOf(p, rows, item, "members", func(r dbgen.MembersRow) []string { return []string{r.Email} }), nil
}

// Member is one of the tenant's people.
func (t *Tenant) Member(ctx context.Context, id connectors.UserID) (connectors.Member, error) {
	row, err := t.q.Member(ctx, t.id, id)
	if err != nil {
		return connectors.Member{}, found(err, "member")
	}
	return memberOf(row), nil
}

// IssueAccount makes a member with a new account, which opens this tenant alone. Whether the address has accounts elsewhere makes no
// difference and cannot be told from the answer. It is a Conflict where a member has the address. Open invitations to it are revoked.
func (t *Tenant) IssueAccount(ctx context.Context, m NewMember) (connectors.Member, error) {
	m.Issued = true
	var member connectors.Member
	err := t.within(ctx, func(tx *Tenant) error {
		id, err := addMember(ctx, tx.q, tx.id, m)
		if err != nil {
			return err
		}
		if err := tx.q.RevokeInvitationsTo(ctx, tx.id, mailbox(m.Email)); err != nil {
			return err
		}
		member, err = tx.Member(ctx, id)
		return err
	})
	return member, err
}

// AddMember makes a person a member of a tenant, with their own account: the one that they have, which keeps its name and password, or a
// new one. A second membership is a Conflict, and so is an account that exists where m asks for a new one. Open invitations to the address
// are revoked. The event describes the member in the tenant's audit log; nil records nothing.
func (s *System) AddMember(ctx context.Context, tenant connectors.TenantID, m NewMember, event func(connectors.Member) Event) (connectors.Member, error) {
	var member connectors.Member
	err := s.tx(ctx, func(tx *System) error {
		id, err := addMember(ctx, tx.q, tenant, m)
		if err != nil {
			return err
		}
		in := tx.tenant(tenant)
		if err := in.q.RevokeInvitationsTo(ctx, tenant, mailbox(m.Email)); err != nil {
			return err
		}
		if member, err = in.Member(ctx, id); err != nil || event == nil {
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

// addAccount adds the account of m with its password. A person's own account that exists keeps the password that it has.
func addAccount(ctx context.Context, q *dbgen.Queries, tenant connectors.TenantID, m NewMember) (connectors.UserID, error) {
	id, email, name := connectors.UserID{UUID: newID()}, mailbox(m.Email), strings.TrimSpace(m.Name)
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

// issueAccount makes an account that opens the tenant alone. Its key is the address behind the tenant's id.
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
	f := fault.Errorf(fault.Conflict, "This address has an account already.")
	f.Fields = []fault.Field{{Location: "email", Message: f.Message}}
	return id, f
}

// mailbox is an e-mail address as it is stored and compared.
func mailbox(email string) string { return strings.ToLower(strings.TrimSpace(email)) }

// HoldMember keeps a membership as it is until the transaction ends, and returns the role.
func (t *Tenant) HoldMember(ctx context.Context, id connectors.UserID) (connectors.Role, error) {
	role, err := t.q.HoldMember(ctx, t.id, id)
	return role, found(err, "member")
}

// SetMemberRole gives a member another role. The last owner stays one: Conflict. Who is no owner any more has invited nobody: the
// open invitations of theirs end.
func (t *Tenant) SetMemberRole(ctx context.Context, id connectors.UserID, role connectors.Role) error {
	return t.within(ctx, func(tx *Tenant) error {
		if role != connectors.RoleOwner {
			if err := tx.keepOwner(ctx, id); err != nil {
				return err
			}
			if err := tx.q.RevokeInvitationsBy(ctx, tx.id, id.UUID); err != nil {
				return err
			}
		}
		n, err := tx.q.SetMemberRole(ctx, role, tx.id, id)
		return touched(n, err, "member")
	})
}

// RemoveMember ends a membership, and the open invitations that the member sent; the person's own account stays, and one that the tenant
// issued is deleted. The agents that they made for programs of their own are disabled, without their accounts, and named. The last owner cannot leave: Conflict.
func (t *Tenant) RemoveMember(ctx context.Context, id connectors.UserID) (agents []string, err error) {
	err = t.within(ctx, func(tx *Tenant) error {
		if err := tx.keepOwner(ctx, id); err != nil {
			return err
		}
		if err := tx.q.RevokeInvitationsBy(ctx, tx.id, id.UUID); err != nil {
			return err
		}
		if err := tx.q.ForgetBreakGlass(ctx, tx.id, id.UUID); err != nil {
			return err
		}
		if agents, err = tx.endAgentsOf(ctx, id); err != nil {
			return err
		}
		n, err := tx.q.RemoveMember(ctx, tx.id, id)
		if err := touched(n, err, "member"); err != nil {
			return err
		}
		return tx.q.DeleteIssuedAccount(ctx, id, &tx.id)
	})
	return agents, err
}

// keepOwner refuses where id is the only owner. The owners' rows stay locked, so that of two owners who leave at the same
// time the second is refused.
func (t *Tenant) keepOwner(ctx context.Context, id connectors.UserID) error {
	owners, err := t.q.LockOwners(ctx, t.id)
	if err != nil {
		return err
	}
	if len(owners) == 1 && owners[0] == id {
		return fault.Errorf(fault.Conflict, "This is the last owner. Make somebody else an owner first.").WithType("last-owner")
	}
	return t.keepBreakGlass(ctx, id)
}

// keepBreakGlass refuses where id is the one whose password still opens a tenant that wants single sign-on.
func (t *Tenant) keepBreakGlass(ctx context.Context, id connectors.UserID) error {
	kept, err := t.q.BreakGlass(ctx, t.id)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return err
	}
	if kept != nil && *kept == id {
		return fault.Errorf(fault.Conflict, "This owner's password is the way in if single sign-on fails. Choose another owner for that first, in the settings.").WithType("break-glass")
	}
	return nil
}

func memberOf(r dbgen.MemberRow) connectors.Member {
	return connectors.Member{
		UserID:    r.ID,
		Email:     r.Email,
		Name:      r.Name,
		Role:      r.Role,
		CreatedAt: r.CreatedAt.UTC(),
		SignedIn:  utc(r.SignedInAt),
		Seen:      utc(r.SeenAt),

		SecondFactor: r.SecondFactor,
	}
}
