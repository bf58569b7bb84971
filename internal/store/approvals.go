package store

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/secret"
	"patchbay/internal/store/dbgen"
)

// NewApproval is a call that waits for a person's approval.
type NewApproval struct {
	ID          connectors.ToolCallID
	AgentID     connectors.AgentID
	ConnectorID connectors.ConnectorID
	Kind        connectors.CallKind
	Tool        string
	ExposedName string
	Definition  connectors.Hash
	CallHash    []byte      // of agent, connector, tool and arguments
	Call        secret.Text // all that is needed to run the call
	Caller      connectors.Caller
	Account     connectors.CredentialID // zero: the call needs none
	ExpiresAt   time.Time
}

// sameCallTries bounds the lookups of an existing row that is closed between insert and select.
const sameCallTries = 3

// RequestApproval stores a call that waits for approval. If the same call is open, or has a result that was not
// fetched, it returns that one with created false. It fails with Conflict if that one has another account, see
// [Calls.CloseApprovalOfOther].
func (t Calls) RequestApproval(ctx context.Context, n NewApproval) (a connectors.Approval, created bool, err error) {
	for range sameCallTries {
		a, err = t.insertApproval(ctx, n)
		if !errors.Is(err, pgx.ErrNoRows) {
			return a, err == nil, err
		}
		row, err := t.q.OpenApprovalOfCall(ctx, t.id, n.CallHash)
		switch {
		case errors.Is(err, pgx.ErrNoRows):
			continue
		case err != nil:
			return a, false, err
		}
		if a = toApproval(row); a.Account == (connectors.CredentialID{}) || a.Account == n.Account {
			return a, false, nil
		}
		return a, false, fault.Errorf(fault.Conflict, "The same call runs with another account. Repeat it later.")
	}
	return connectors.Approval{}, false, fault.Errorf(fault.Unavailable, "The same call is about to end. Try again.")
}

// CloseApprovalOfOther closes the open approval of the same call with another account, unless it runs. ended is its call if that has not
// run; zero: none.
func (t Calls) CloseApprovalOfOther(ctx context.Context, callHash []byte, account connectors.CredentialID) (ended connectors.ToolCallID, err error) {
	row, err := t.q.CloseApprovalOfOther(ctx, t.id, callHash, storedAccount(account))
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return ended, nil
	case err != nil, row.State != connectors.ApprovalLapsed:
		return ended, err
	}
	_, err = t.EndPendingCall(ctx, row.ID, CallEnd{
		Status: connectors.CallCancelled, Outcome: connectors.OutcomeCancelled, Code: "cancelled", Message: "The account was replaced while the call waited.",
	})
	return row.ID, err
}

// insertApproval stores the approval and its notice in one transaction.
func (t *tenant) insertApproval(ctx context.Context, n NewApproval) (a connectors.Approval, err error) {
	err = t.ensureTx(ctx, func(tx *Tenant) error {
		account := storedAccount(n.Account)
		switch older, err := tx.q.HasInstanceWithoutAccountNames(ctx); {
		case err != nil:
			return err
		case older: // it opens no call that is sealed for an account
			account = nil
		}
		err := tx.sealAndRetry(ctx, n.Call, approvalAD(tx.id, approvalPlace{n.ID, n.AgentID, n.ConnectorID, account}), func(sealed []byte) error {
			row, err := tx.q.InsertApproval(ctx, dbgen.InsertApprovalParams{
				TenantID: tx.id, ID: n.ID, AgentID: n.AgentID, ConnectorID: n.ConnectorID, Kind: string(n.Kind), Tool: cleanText(n.Tool), ExposedName: cleanText(n.ExposedName),
				DefinitionHash: n.Definition[:], CallHash: n.CallHash, Sealed: sealed, ExpiresAt: n.ExpiresAt, CallerID: n.Caller.ID(), AccountID: storedAccount(n.Account),
				SealedAccountID: account,
			})
			a = toApproval(row)
			return err
		})
		if err != nil {
			return err
		}
		about, err := tx.q.ApprovalSubject(ctx, n.ConnectorID, tx.id, n.AgentID.UUID)
		if err != nil {
			return err
		}
		c := connectors.ConnectorName{ID: n.ConnectorID, Slug: about.ConnectorSlug, Name: about.Connector}
		return tx.People().AddNotice(ctx, connectors.ApprovalNotice(a, c, connectors.AgentName{Slug: about.AgentSlug, Name: about.Agent}))
	})
	return a, err
}

// DeniedCall returns the latest denial after a time of the agent's same call. It fails with NotFound if there
// is none.
func (t Calls) DeniedCall(ctx context.Context, agent connectors.AgentID, callHash []byte, after time.Time) (connectors.Approval, error) {
	row, err := t.q.DeniedApprovalOfCall(ctx, dbgen.DeniedApprovalOfCallParams{TenantID: t.id, AgentID: agent, CallHash: callHash, Since: &after})
	return toApproval(row), rowError(err, "approval")
}

// Approval reads one approval, open or closed.
func (t Calls) Approval(ctx context.Context, id connectors.ToolCallID) (connectors.Approval, error) {
	row, err := t.q.Approval(ctx, t.id, id)
	return toApproval(row), rowError(err, "approval")
}

// WaitingApprovals lists the open approvals, newest first.
func (t Calls) WaitingApprovals(ctx context.Context, p Page) (List[connectors.Approval], error) {
	after, err := p.afterID("approvals")
	if err != nil {
		return List[connectors.Approval]{}, err
	}
	rows, err := t.q.WaitingApprovals(ctx, t.id, after, p.rowLimit())
	if err != nil {
		return List[connectors.Approval]{}, err
	}
	return newList(p, rows, toApproval, "approvals", func(r dbgen.Approval) []string { return []string{r.ID.String()} }), nil
}

// CountOpenApprovals counts an agent's calls that wait for a person or are approved and not run yet.
func (t Calls) CountOpenApprovals(ctx context.Context, agent connectors.AgentID) (int, error) {
	n, err := t.q.CountOpenApprovals(ctx, t.id, agent)
	return int(n), err
}

// ApprovalDecision is a person's decision about a call.
type ApprovalDecision struct {
	Approve bool
	By      string // name of the person
	Reason  string
}

// DecideApproval approves or denies a waiting call. It fails with Conflict if the call was decided already or
// expired.
func (t Calls) DecideApproval(ctx context.Context, id connectors.ToolCallID, v ApprovalDecision) (connectors.Approval, error) {
	row, err := t.q.DecideApproval(ctx, dbgen.DecideApprovalParams{
		TenantID: t.id, ID: id, Approved: v.Approve, DecidedBy: cleanText(v.By), Reason: cleanText(v.Reason),
	})
	if !errors.Is(err, pgx.ErrNoRows) {
		return toApproval(row), err
	}
	if _, err := t.Approval(ctx, id); err != nil {
		return connectors.Approval{}, err
	}
	return connectors.Approval{}, fault.Errorf(fault.Conflict, "This call is no longer waiting for approval.")
}

// WithdrawApproval closes an open approval and reports whether it was open.
func (t Calls) WithdrawApproval(ctx context.Context, id connectors.ToolCallID) (bool, error) {
	n, err := t.q.WithdrawApproval(ctx, t.id, id)
	return n > 0, err
}

// ClaimApproval claims an approved call for a process. It is true for exactly one caller.
func (t Calls) ClaimApproval(ctx context.Context, id connectors.ToolCallID, by connectors.InstanceID) (bool, error) {
	n, err := t.q.ClaimApproval(ctx, &by, t.id, id)
	return n > 0, err
}

// FinishApproval stores the result of a call that the process has claimed, until it is fetched. It is false if
// another process has the claim.
func (t Calls) FinishApproval(ctx context.Context, id connectors.ToolCallID, by connectors.InstanceID, result secret.Text) (bool, error) {
	done := false
	err := t.ensureTx(ctx, func(tx *Tenant) error {
		n, err := tx.q.FinishApproval(ctx, tx.id, id, &by)
		if done = n > 0; err != nil || !done {
			return err
		}
		return tx.sealAndRetry(ctx, result, approvalResultAD(tx.id, id), func(sealed []byte) error {
			return tx.q.SaveApprovalResult(ctx, tx.id, id, sealed)
		})
	})
	return done && err == nil, err
}

// ApprovalCall opens the arguments of a call that waits for approval.
func (v *Vault) ApprovalCall(ctx context.Context, id connectors.ToolCallID) (connectors.Approval, secret.Text, error) {
	row, err := v.q.Approval(ctx, v.id, id)
	if err != nil {
		return connectors.Approval{}, "", rowError(err, "approval")
	}
	plain, err := v.keyring.Open(row.Sealed, approvalAD(v.id, approvalPlace{row.ID, row.AgentID, row.ConnectorID, row.SealedAccountID}))
	if err != nil {
		return connectors.Approval{}, "", fault.Wrap(fault.Internal, err, "The stored call can't be decrypted. Call the tool again.")
	}
	return toApproval(row), plain, nil
}

// FetchApproval returns the result of an approved call once. A second fetch fails with NotFound.
func (v *Vault) FetchApproval(ctx context.Context, id connectors.ToolCallID) (secret.Text, error) {
	var plain secret.Text
	// The tenant's keys are loaded before the transaction takes what may be the only connection.
	if _, err := v.keyring.tenantSealer(ctx, v.scope, v.keyring.current.Load(), v.id.String()); err != nil {
		return "", err
	}
	err := v.scope.inTx(ctx, func(s scope) error {
		q := dbgen.New(s)
		n, err := q.FetchApproval(ctx, v.id, id)
		if err := affectedError(n, err, "result"); err != nil {
			return err
		}
		sealed, err := q.ApprovalResult(ctx, v.id, id)
		if err == nil {
			plain, err = v.openResult(id, sealed)
		}
		return rowError(err, "result")
	})
	return plain, err
}

// ApprovalResult opens the result of an approved call, also after it was fetched.
func (v *Vault) ApprovalResult(ctx context.Context, id connectors.ToolCallID) (secret.Text, error) {
	sealed, err := v.q.ApprovalResult(ctx, v.id, id)
	if err != nil {
		return "", rowError(err, "result")
	}
	return v.openResult(id, sealed)
}

func (v *Vault) openResult(id connectors.ToolCallID, sealed []byte) (secret.Text, error) {
	plain, err := v.keyring.Open(sealed, approvalResultAD(v.id, id))
	if err != nil {
		return "", fault.Wrap(fault.Internal, err, "The stored result can't be decrypted.")
	}
	return plain, nil
}

// storedAccount is nil for the zero value.
func storedAccount(id connectors.CredentialID) *connectors.CredentialID {
	if id == (connectors.CredentialID{}) {
		return nil
	}
	return &id
}

func toApproval(r dbgen.Approval) connectors.Approval {
	a := connectors.Approval{
		ID: r.ID, AgentID: r.AgentID, ConnectorID: r.ConnectorID, Kind: connectors.CallKind(r.Kind), Tool: r.Tool, ExposedName: r.ExposedName, CallHash: r.CallHash,
		State: r.State, AskedAt: r.AskedAt.UTC(), ExpiresAt: r.ExpiresAt.UTC(), DecidedAt: toUTC(r.DecidedAt), DecidedBy: r.DecidedBy,
		Reason: r.Reason, InstanceID: r.InstanceID, FetchedAt: toUTC(r.FetchedAt), Caller: connectors.StoredCaller(r.CallerID),
	}
	if id := cmp.Or(r.SealedAccountID, r.AccountID); id != nil {
		a.Account = *id
	}
	copy(a.Definition[:], r.DefinitionHash)
	return a
}
