package store

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/secret"
	"patchbay/internal/store/dbgen"
)

// NewApproval is a call that is to wait for a person.
type NewApproval struct {
	ID          connectors.ToolCallID
	AgentID     connectors.AgentID
	ConnectorID connectors.ConnectorID
	Tool        string
	ExposedName string
	Definition  connectors.Hash
	CallHash    []byte      // of agent, connector, tool and arguments
	Call        secret.Text // what is needed to make the call
	ExpiresAt   time.Time
}

// sameCallTries bounds how often a row that was there, and is closed a moment later, is looked for again.
const sameCallTries = 3

// AskApproval has a call wait for a person. Where the same call is there already, open or with a result that nobody fetched, that one
// is returned, and created is false.
func (t *Tenant) AskApproval(ctx context.Context, n NewApproval) (a connectors.Approval, created bool, err error) {
	for range sameCallTries {
		a, err = t.insertApproval(ctx, n)
		if !errors.Is(err, pgx.ErrNoRows) {
			return a, err == nil, err
		}
		row, err := t.q.SameCall(ctx, t.id, n.CallHash)
		if !errors.Is(err, pgx.ErrNoRows) {
			return approvalOf(row), false, err
		}
	}
	return connectors.Approval{}, false, fault.Errorf(fault.Unavailable, "The same call ends at this moment. Try again.")
}

// insertApproval stores it and tells people, both or neither.
func (t *Tenant) insertApproval(ctx context.Context, n NewApproval) (a connectors.Approval, err error) {
	err = t.within(ctx, func(tx *Tenant) error {
		err := tx.storing(ctx, n.Call, approvalPlace(tx.id, n.ID, n.AgentID, n.ConnectorID), func(sealed []byte) error {
			row, err := tx.q.InsertApproval(ctx, dbgen.InsertApprovalParams{
				TenantID: tx.id, ID: n.ID, AgentID: n.AgentID, ConnectorID: n.ConnectorID, Tool: clean(n.Tool), ExposedName: clean(n.ExposedName),
				DefinitionHash: n.Definition[:], CallHash: n.CallHash, Sealed: sealed, ExpiresAt: n.ExpiresAt,
			})
			a = approvalOf(row)
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
		return tx.AddNotice(ctx, connectors.ApprovalNotice(n.ID, c, connectors.AgentName{Slug: about.AgentSlug, Name: about.Agent}, n.Tool))
	})
	return a, err
}

// DeniedCall is the agent's same call that a person denied last, after a time. NotFound: nobody did.
func (t *Tenant) DeniedCall(ctx context.Context, agent connectors.AgentID, callHash []byte, after time.Time) (connectors.Approval, error) {
	row, err := t.q.DeniedCall(ctx, dbgen.DeniedCallParams{TenantID: t.id, AgentID: agent, CallHash: callHash, Since: &after})
	return approvalOf(row), found(err, "approval")
}

// Approval is one call that waits, or waited, for a person.
func (t *Tenant) Approval(ctx context.Context, id connectors.ToolCallID) (connectors.Approval, error) {
	row, err := t.q.Approval(ctx, t.id, id)
	return approvalOf(row), found(err, "approval")
}

// WaitingApprovals is the inbox, the newest first.
func (t *Tenant) WaitingApprovals(ctx context.Context, p Page) (List[connectors.Approval], error) {
	after, err := p.afterID("approvals")
	if err != nil {
		return List[connectors.Approval]{}, err
	}
	rows, err := t.q.WaitingApprovals(ctx, t.id, after, p.rows())
	if err != nil {
		return List[connectors.Approval]{}, err
	}
	return listOf(p, rows, approvalOf, "approvals", func(r dbgen.Approval) []string { return []string{r.ID.String()} }), nil
}

// CountOpenApprovals is how many of one agent's calls wait for a person, or were agreed to and are not made yet.
func (t *Tenant) CountOpenApprovals(ctx context.Context, agent connectors.AgentID) (int, error) {
	n, err := t.q.CountOpenApprovals(ctx, t.id, agent)
	return int(n), err
}

// Verdict is a person's decision about a call.
type Verdict struct {
	Approve bool
	By      string // who decides
	Reason  string
}

// DecideApproval approves or denies a waiting call. Whoever comes second gets a Conflict, and so does who comes too late.
func (t *Tenant) DecideApproval(ctx context.Context, id connectors.ToolCallID, v Verdict) (connectors.Approval, error) {
	row, err := t.q.DecideApproval(ctx, dbgen.DecideApprovalParams{
		TenantID: t.id, ID: id, Approved: v.Approve, DecidedBy: clean(v.By), Reason: clean(v.Reason),
	})
	if !errors.Is(err, pgx.ErrNoRows) {
		return approvalOf(row), err
	}
	if _, err := t.Approval(ctx, id); err != nil {
		return connectors.Approval{}, err
	}
	return connectors.Approval{}, fault.Errorf(fault.Conflict, "This call was decided already, or does not wait any more.")
}

// WithdrawApproval ends the waiting of a call that nobody needs to decide any more, and tells whether it waited.
func (t *Tenant) WithdrawApproval(ctx context.Context, id connectors.ToolCallID) (bool, error) {
	n, err := t.q.WithdrawApproval(ctx, t.id, id)
	return n > 0, err
}

// ClaimApproval makes a process the one that executes an approved call. It is true for one caller, once.
func (t *Tenant) ClaimApproval(ctx context.Context, id connectors.ToolCallID, by connectors.InstanceID) (bool, error) {
	n, err := t.q.ClaimApproval(ctx, &by, t.id, id)
	return n > 0, err
}

// FinishApproval keeps what came of a call that the process has claimed, until it is fetched. It is false where the call is not that
// process's.
func (t *Tenant) FinishApproval(ctx context.Context, id connectors.ToolCallID, by connectors.InstanceID, result secret.Text) (bool, error) {
	done := false
	err := t.within(ctx, func(tx *Tenant) error {
		n, err := tx.q.FinishApproval(ctx, tx.id, id, &by)
		if done = n > 0; err != nil || !done {
			return err
		}
		return tx.storing(ctx, result, approvalResultPlace(tx.id, id), func(sealed []byte) error {
			return tx.q.SaveApprovalResult(ctx, tx.id, id, sealed)
		})
	})
	return done && err == nil, err
}

// AllowTool has an agent call a tool, as it is defined, without asking until a time.
func (t *Tenant) AllowTool(ctx context.Context, agent connectors.AgentID, a connectors.Allowance) error {
	err := t.q.AllowTool(ctx, dbgen.AllowToolParams{
		TenantID: t.id, AgentID: agent, ConnectorID: a.ConnectorID, Tool: clean(a.Tool), DefinitionHash: a.Definition[:], Until: a.Until, GrantedBy: clean(a.GrantedBy),
	})
	return t.says(err, "agent", agent)
}

// DropAllowance ends what AllowTool began.
func (t *Tenant) DropAllowance(ctx context.Context, agent connectors.AgentID, id connectors.ConnectorID, tool string) error {
	n, err := t.q.DropAllowance(ctx, dbgen.DropAllowanceParams{TenantID: t.id, AgentID: agent, ConnectorID: id, Tool: tool})
	return t.says(touched(n, err, "allowance"), "agent", agent)
}

// ApprovalCall opens what a person decides about.
func (v *Vault) ApprovalCall(ctx context.Context, id connectors.ToolCallID) (connectors.Approval, secret.Text, error) {
	row, err := v.q.Approval(ctx, v.id, id)
	if err != nil {
		return connectors.Approval{}, "", found(err, "approval")
	}
	plain, err := v.keyring.Open(row.Sealed, approvalPlace(v.id, row.ID, row.AgentID, row.ConnectorID))
	if err != nil {
		return connectors.Approval{}, "", fault.Wrap(fault.Internal, err, "The stored call cannot be opened. Call the tool again.")
	}
	return approvalOf(row), plain, nil
}

// FetchApproval hands out what came of an approved call, once; a second time it is NotFound.
func (v *Vault) FetchApproval(ctx context.Context, id connectors.ToolCallID) (secret.Text, error) {
	var plain secret.Text
	// The tenant's keys come into memory before the transaction has the one connection that there may be.
	if _, err := v.keyring.tenantSealer(ctx, v.scope, v.keyring.now.Load(), v.id.String()); err != nil {
		return "", err
	}
	err := v.scope.inTx(ctx, func(s scope) error {
		q := dbgen.New(s)
		n, err := q.FetchApproval(ctx, v.id, id)
		if err := touched(n, err, "result"); err != nil {
			return err
		}
		sealed, err := q.ApprovalResult(ctx, v.id, id)
		if err == nil {
			plain, err = v.openResult(id, sealed)
		}
		return found(err, "result")
	})
	return plain, err
}

// ApprovalResult is what came of an approved call, for whoever was there when it was fetched.
func (v *Vault) ApprovalResult(ctx context.Context, id connectors.ToolCallID) (secret.Text, error) {
	sealed, err := v.q.ApprovalResult(ctx, v.id, id)
	if err != nil {
		return "", found(err, "result")
	}
	return v.openResult(id, sealed)
}

func (v *Vault) openResult(id connectors.ToolCallID, sealed []byte) (secret.Text, error) {
	plain, err := v.keyring.Open(sealed, approvalResultPlace(v.id, id))
	if err != nil {
		return "", fault.Wrap(fault.Internal, err, "The stored result cannot be opened.")
	}
	return plain, nil
}

func approvalOf(r dbgen.Approval) connectors.Approval {
	a := connectors.Approval{
		ID: r.ID, AgentID: r.AgentID, ConnectorID: r.ConnectorID, Tool: r.Tool, ExposedName: r.ExposedName, CallHash: r.CallHash,
		State: r.State, AskedAt: r.AskedAt.UTC(), ExpiresAt: r.ExpiresAt.UTC(), DecidedAt: utc(r.DecidedAt), DecidedBy: r.DecidedBy,
		Reason: r.Reason, InstanceID: r.InstanceID, FetchedAt: utc(r.FetchedAt),
	}
	copy(a.Definition[:], r.DefinitionHash)
	return a
}
