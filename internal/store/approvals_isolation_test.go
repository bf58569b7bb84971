package store_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/secret"
	"patchbay/internal/store"
)

// approvalAttempts are the outsider's at calls that wait, at what may be called without asking, and at mail.
var approvalAttempts = map[string]attempt{
	"Calls.RequestApproval": func(ctx context.Context, o outsider) (bool, error) {
		theirs := newApproval(o.agent, o.connector, "same call")
		if _, _, err := o.door.Calls().RequestApproval(ctx, theirs); !fault.Is(err, fault.NotFound) {
			return true, err
		}
		mine, err := o.ownAgent(ctx)
		if err != nil {
			return true, err
		}
		theirs.AgentID = mine
		_, _, err = o.door.Calls().RequestApproval(ctx, theirs)
		return true, err
	},
	"Calls.DeniedCall": func(ctx context.Context, o outsider) (bool, error) {
		return one(o.door.Calls().DeniedCall(ctx, o.agent.ID, o.denied.CallHash, o.denied.AskedAt))
	},
	"Calls.Approval": func(ctx context.Context, o outsider) (bool, error) {
		return one(o.door.Calls().Approval(ctx, o.waiting.ID))
	},
	"Calls.WaitingApprovals": func(ctx context.Context, o outsider) (bool, error) {
		return some(o.door.Calls().WaitingApprovals(ctx, store.Page{}))
	},
	"Calls.CountOpenApprovals": func(ctx context.Context, o outsider) (bool, error) {
		n, err := o.door.Calls().CountOpenApprovals(ctx, o.agent.ID)
		return n > 0, err
	},
	"Calls.DecideApproval": func(ctx context.Context, o outsider) (bool, error) {
		return one(o.door.Calls().DecideApproval(ctx, o.waiting.ID, store.ApprovalDecision{Approve: true, By: "mine"}))
	},
	"Calls.WithdrawApproval": func(ctx context.Context, o outsider) (bool, error) {
		return o.door.Calls().WithdrawApproval(ctx, o.waiting.ID)
	},
	"Calls.ClaimApproval": func(ctx context.Context, o outsider) (bool, error) {
		return o.door.Calls().ClaimApproval(ctx, o.approved.ID, o.Instance)
	},
	"Calls.FinishApproval": func(ctx context.Context, o outsider) (bool, error) {
		return o.door.Calls().FinishApproval(ctx, o.executing.ID, o.Instance, "mine")
	},
	"Calls.AddAllowance": func(ctx context.Context, o outsider) (bool, error) {
		return true, o.door.Calls().AddAllowance(ctx, o.agent.ID, connectors.Allowance{AllowanceKey: connectors.AllowanceKey{ConnectorID: o.connector.ID, Kind: connectors.CallTool, Tool: "search"}, Until: time.Now().Add(time.Hour)})
	},
	"Calls.Allowances": func(ctx context.Context, o outsider) (bool, error) {
		return some(o.door.Calls().Allowances(ctx, o.agent.ID, store.Page{}))
	},
	"Calls.EndAllowance": func(ctx context.Context, o outsider) (bool, error) {
		_, err := o.door.Calls().EndAllowance(ctx, o.agent.ID, connectors.AllowanceKey{ConnectorID: o.connector.ID, Kind: connectors.CallTool, Tool: "search"})
		return true, err
	},
	"Calls.EndAllowances": func(ctx context.Context, o outsider) (bool, error) {
		n, err := o.door.Calls().EndAllowances(ctx, o.connector.ID)
		return n > 0, err
	},
	"Calls.List": func(ctx context.Context, o outsider) (bool, error) {
		return some(o.door.Calls().List(ctx, store.CallFilter{}))
	},
	"Calls.Get": func(ctx context.Context, o outsider) (bool, error) { return one(o.door.Calls().Get(ctx, o.waiting.ID)) },
	"Calls.InsertPendingCall": func(ctx context.Context, o outsider) (bool, error) {
		c := newCall(o.agent, o.connector, o.waiting.ID)
		return true, o.door.Calls().InsertPendingCall(ctx, c)
	},
	"Calls.StartPendingCall": func(ctx context.Context, o outsider) (bool, error) {
		if err := o.door.Calls().StartPendingCall(ctx, o.waiting.ID, o.Instance, "mine"); err != nil {
			return false, err
		}
		theirs, err := o.Door().Calls().Get(ctx, o.waiting.ID)
		return theirs.Status != connectors.CallPendingApproval, err
	},
	"Calls.EndPendingCall": func(ctx context.Context, o outsider) (bool, error) {
		return o.door.Calls().EndPendingCall(ctx, o.waiting.ID, store.CallEnd{Status: connectors.CallDenied, Outcome: connectors.OutcomeDenied})
	},
	"Calls.CloseApprovalOfOther": func(ctx context.Context, o outsider) (bool, error) {
		ended, err := o.door.Calls().CloseApprovalOfOther(ctx, o.waiting.CallHash, connectors.CredentialID{UUID: uuid.New()})
		return ended != (connectors.ToolCallID{}), err
	},
	"Calls.SaveCallTask": func(ctx context.Context, o outsider) (bool, error) {
		if err := o.door.Calls().SaveCallTask(ctx, o.waiting.ID, store.CallTask{State: []byte("{}"), Handle: "handle"}); err != nil {
			return false, err
		}
		theirs, err := o.Door().Calls().Get(ctx, o.waiting.ID)
		return theirs.Task != nil, err
	},
	"Calls.EndCallTask": func(ctx context.Context, o outsider) (bool, error) {
		return o.door.Calls().EndCallTask(ctx, connectors.ToolCall{ID: o.waiting.ID, Status: connectors.CallSuccess, Outcome: connectors.OutcomeOK})
	},
	"Calls.MarkUndelivered": func(ctx context.Context, o outsider) (bool, error) {
		if err := o.door.Calls().MarkUndelivered(ctx, o.finished.ID); err != nil {
			return false, err
		}
		theirs, err := o.Door().Calls().Get(ctx, o.finished.ID)
		return theirs.ErrorCode != "" || !theirs.Status.Ended(), err
	},
	"Calls.PutMail": func(ctx context.Context, o outsider) (bool, error) {
		return true, o.door.Calls().PutMail(ctx, newMail(o.agent, "mine"))
	},
	"Calls.DropMail": func(ctx context.Context, o outsider) (bool, error) {
		if err := o.door.Calls().DropMail(ctx, o.agent.ID, "box"); err != nil {
			return false, err
		}
		left, err := o.St.Vault(o.Tenant).Mail(ctx, o.agent.ID, "box", uuid.Nil)
		return len(left) != 1, err
	},
}

var approvalVaultAttempts = map[string]attempt{
	"ApprovalCall": func(ctx context.Context, o outsider) (bool, error) {
		_, text, err := o.vault.ApprovalCall(ctx, o.waiting.ID)
		return !text.Empty(), err
	},
	"FetchApproval": func(ctx context.Context, o outsider) (bool, error) {
		return one(o.vault.FetchApproval(ctx, o.finished.ID))
	},
	"ApprovalResult": func(ctx context.Context, o outsider) (bool, error) {
		return one(o.vault.ApprovalResult(ctx, o.finished.ID))
	},
	"Mail": func(ctx context.Context, o outsider) (bool, error) {
		letters, err := o.vault.Mail(ctx, o.agent.ID, "box", uuid.Nil)
		return len(letters) > 0, err
	},
	"TakeMail": func(ctx context.Context, o outsider) (bool, error) {
		letters, err := o.vault.TakeMail(ctx, o.agent.ID, "box")
		return len(letters) > 0, err
	},
}

// approvalsOf are a tenant's calls in each state.
type approvalsOf struct {
	waiting, approved, executing, finished, denied connectors.Approval
}

func (o *outsider) fillApprovals(t *testing.T) {
	t.Helper()
	ctx, door := t.Context(), o.Door()
	ask := func(same string) connectors.Approval {
		a, _, err := door.Calls().RequestApproval(ctx, newApproval(o.agent, o.connector, same))
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	o.waiting, o.approved, o.executing, o.finished = ask("same call"), ask("approved"), ask("executing"), ask("finished")
	for _, a := range []connectors.Approval{o.approved, o.executing, o.finished} {
		if _, err := door.Calls().DecideApproval(ctx, a.ID, store.ApprovalDecision{Approve: true, By: "somebody"}); err != nil {
			t.Fatal(err)
		}
	}
	o.denied = ask("denied")
	if _, err := door.Calls().DecideApproval(ctx, o.denied.ID, store.ApprovalDecision{By: "somebody"}); err != nil {
		t.Fatal(err)
	}
	if row, err := door.Calls().DeniedCall(ctx, o.agent.ID, o.denied.CallHash, o.denied.AskedAt); err != nil || row.ID != o.denied.ID {
		t.Fatalf("denied = %+v, %v", row, err)
	}
	for _, a := range []connectors.Approval{o.executing, o.finished} {
		ok, err := door.Calls().ClaimApproval(ctx, a.ID, o.Instance)
		wantTrue(t, "claim", ok, err)
	}
	ok, err := door.Calls().FinishApproval(ctx, o.finished.ID, o.Instance, "the result")
	wantTrue(t, "finish", ok, err)
	err = errors.Join(door.Calls().InsertPendingCall(ctx, newCall(o.agent, o.connector, o.finished.ID)), door.Calls().InsertPendingCall(ctx, newCall(o.agent, o.connector, o.waiting.ID)), door.Calls().PutMail(ctx, newMail(o.agent, "box")),
		door.Calls().AddAllowance(ctx, o.agent.ID, connectors.Allowance{AllowanceKey: connectors.AllowanceKey{ConnectorID: o.connector.ID, Kind: connectors.CallTool, Tool: "search"}, Until: time.Now().Add(time.Hour)}))
	if err != nil {
		t.Fatal(err)
	}
	ok, err = door.Calls().EndPendingCall(ctx, o.finished.ID, store.CallEnd{Status: connectors.CallSuccess, Outcome: connectors.OutcomeOK})
	wantTrue(t, "end", ok, err)
}

// ownAgent makes the outsider an agent of its own.
func (o outsider) ownAgent(ctx context.Context) (connectors.AgentID, error) {
	a, err := o.door.Agents().Create(ctx, connectors.Agent{Name: "Mine", Slug: "outsider", Approval: connectors.ApprovalAuto, NameLimit: connectors.MaxExposedName, ToolList: connectors.ToolListFull})
	return a.ID, err
}

func newApproval(a connectors.Agent, c connectors.Connector, same string) store.NewApproval {
	return store.NewApproval{
		ID: connectors.ToolCallID{UUID: uuid.Must(uuid.NewV7())}, AgentID: a.ID, ConnectorID: c.ID, Tool: "search", ExposedName: "mcp_x__search",
		CallHash: []byte(same), Call: secret.Text("arguments of " + same), ExpiresAt: time.Now().Add(time.Hour),
		Account: connectors.CredentialID{UUID: uuid.Max},
	}
}

func newCall(a connectors.Agent, c connectors.Connector, id connectors.ToolCallID) connectors.ToolCall {
	return connectors.ToolCall{
		ID: id, AgentID: &a.ID, AgentSlug: a.Slug, ConnectorID: &c.ID, ConnectorSlug: c.Slug, Kind: connectors.CallTool, Tool: "search",
		ExposedName: "mcp_x__search", Source: connectors.SourceGateway, Status: connectors.CallPendingApproval, StartedAt: time.Now(),
	}
}

func newMail(a connectors.Agent, box string) store.NewMail {
	return store.NewMail{AgentID: a.ID, Box: box, Message: "a message", ExpiresAt: time.Now().Add(time.Hour)}
}
