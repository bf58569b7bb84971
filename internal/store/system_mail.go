package store

import (
	"context"
	"slices"
	"strings"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/queue"
	"patchbay/internal/store/dbgen"
)

// QueueReset queues a mail with links to set a new password for the accounts of an address, and counts the request as a
// failure of account from address. It takes the same work whether there is an account or not.
func (s SystemMail) QueueReset(ctx context.Context, email, language, account, address string) error {
	return s.inTx(ctx, func(tx *System) error {
		if err := tx.q.RecordSignInFailure(ctx, account, address); err != nil {
			return err
		}
		return classifyError(tx.jobs.InsertMailTx(ctx, tx.scope.tx, queue.MailReset{Address: cleanText(normalizeEmail(email)), Language: language}))
	})
}

// AddPasswordReset stores a link by the hash of its token. The person's earlier links become invalid.
func (s SystemMail) AddPasswordReset(ctx context.Context, user connectors.UserID, tokenHash []byte, expires time.Time) error {
	return s.q.AddPasswordReset(ctx, tokenHash, user, expires)
}

// PasswordReset is a link to set a new password.
type PasswordReset struct {
	UserID    connectors.UserID
	Email     string
	Name      string
	Issued    bool // the account works for one tenant alone
	ExpiresAt time.Time
}

// PasswordReset finds a link by the hash of its token, also an expired one.
func (s SystemMail) PasswordReset(ctx context.Context, tokenHash []byte) (PasswordReset, error) {
	r, err := s.q.PasswordReset(ctx, tokenHash)
	if err != nil {
		return PasswordReset{}, rowError(err, "link")
	}
	return PasswordReset{UserID: r.ID, Email: r.Email, Name: r.Name, Issued: r.IssuedBy != nil, ExpiresAt: r.ExpiresAt.UTC()}, nil
}

// ResetPassword uses a link up and stores the new password. It ends all sessions of the person and the clients that act
// as them, and appends an event to the audit log of each tenant that the password opens. NotFound: the link is used or
// expired.
func (s SystemMail) ResetPassword(ctx context.Context, tokenHash []byte, hash string, events map[connectors.TenantID]Event) error {
	return s.inTx(ctx, func(tx *System) error {
		user, err := tx.q.UsePasswordReset(ctx, tokenHash)
		if err != nil {
			return rowError(err, "link")
		}
		tenants, was := sortedTenants(events), map[connectors.TenantID]State{}
		for _, id := range tenants {
			if was[id], err = tx.tenantInTx(id).LockAndReadState(ctx, OfPassword(user)); err != nil {
				return err
			}
		}
		n, err := tx.q.ChangePassword(ctx, user, hash)
		if err := affectedError(n, err, "person"); err != nil {
			return err
		}
		if err := tx.q.EndOtherBrowserSessions(ctx, user, connectors.SessionID{}); err != nil {
			return err
		}
		if err := tx.q.DeleteUnconfirmedFactor(ctx, user); err != nil {
			return err
		}
		for _, id := range tenants {
			if err := tx.tenantInTx(id).RecordChange(ctx, events[id], was[id], OfPassword(user)); err != nil {
				return err
			}
		}
		return nil
	})
}

// sortedTenants returns the keys in one order, so that two transactions lock audit logs in the same one.
func sortedTenants(events map[connectors.TenantID]Event) []connectors.TenantID {
	ids := make([]connectors.TenantID, 0, len(events))
	for id := range events {
		ids = append(ids, id)
	}
	slices.SortFunc(ids, func(a, b connectors.TenantID) int { return strings.Compare(a.String(), b.String()) })
	return ids
}

// QueueMail queues a mail for each member with news that they chose, at most max, and each at most once in pause. It
// returns their number.
func (s SystemMail) QueueMail(ctx context.Context, pause time.Duration, max int) (int, error) {
	found := 0
	err := s.inTx(ctx, func(tx *System) error {
		rows, err := tx.q.ClaimMail(ctx, dbgen.ClaimMailParams{
			Pause: pause.Seconds(), Approvals: kindTexts(connectors.MailApprovals.Kinds()), AllKinds: kindTexts(connectors.MailAll.Kinds()), MaxRows: int32(max),
		})
		if err != nil {
			return err
		}
		found = len(rows)
		for _, r := range rows {
			job := queue.MailMember{TenantID: r.TenantID.UUID, UserID: r.UserID.UUID, Since: r.Since.UTC()}
			if err := tx.jobs.InsertMailTx(ctx, tx.scope.tx, job); err != nil {
				return classifyError(err)
			}
		}
		return nil
	})
	return found, err
}
