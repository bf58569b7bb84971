package toolcall

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"patchbay/internal/agentview"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/mcp"
	"patchbay/internal/secret"
	"patchbay/internal/store"
)

// claimCall claims an approved call for this request, which then runs it. It is false if another process has claimed it.
func (ap *approvals) claimCall(ctx context.Context, a *activeCall, row connectors.Approval) (claimed bool, err error) {
	var callCtx *callContext
	if row.ID != a.registeredID { // the caller of this request found the row of an earlier one
		if callCtx, err = ap.running.beginCall(ctx, row.ID); err != nil {
			return false, err
		}
		defer func() {
			if !claimed { // also if claimApproval panics
				callCtx.endCall()
			}
		}()
		ctx = callCtx
	}
	claimed, err = ap.claimApproval(ctx, a.request.View.Tenant.ID, row)
	if claimed {
		a.approval, a.claimedCtx = &row, callCtx
	}
	return claimed, err
}

// claimApproval reports whether this process may run the call: only one may.
func (ap *approvals) claimApproval(ctx context.Context, t connectors.TenantID, row connectors.Approval) (claimed bool, err error) {
	err = ap.o.Store.Tenant(t).Tx(ctx, func(tx *store.Tenant) error {
		if claimed, err = tx.Calls().ClaimApproval(ctx, row.ID, ap.o.Instance); err != nil || !claimed {
			return err
		}
		return tx.Calls().StartPendingCall(ctx, row.ID, ap.o.Instance, row.DecidedBy)
	})
	return claimed && err == nil, err
}

// beginApproved makes the claimed row the call, and records its beginning.
func (ap *approvals) beginApproved(ctx context.Context, a *activeCall, row connectors.Approval) {
	call, err := ap.o.Store.Tenant(a.request.View.Tenant.ID).Calls().Get(ctx, row.ID)
	if err != nil {
		call = a.call
		call.ID = row.ID
	}
	call.Status, call.ApprovedBy, call.CredentialID = connectors.CallRunning, row.DecidedBy, accountOrNil(row.Account)
	a.call, a.charge = call, quotaCharge{a.request.View, a.request.Tool, call.StartedAt}
	ap.recorder.beginEntry(a)
	a.approval, a.lastCheck = &row, policyCheck{waited: a.request.Wait.Spent()}
}

// checkDefinition returns a refusal if the tool's definition is not the reviewed one.
func (a *activeCall) checkDefinition(row connectors.Approval) error {
	if a.request.Tool.Hash == row.Definition {
		return nil
	}
	return a.withCallID(row.ID, &RefusalError{Code: CodeHeld, Sentence: fmt.Sprintf("The tool %q changed after this call was requested. Review it, then repeat the call.", row.Tool)})
}

// reloadOrder checks agent and tool as they are now, and limits the order to what the approver saw.
func (ap *approvals) reloadOrder(ctx context.Context, a *activeCall, row connectors.Approval) error {
	var view *agentview.View
	var arguments secret.Text
	tenant := a.request.View.Tenant.ID
	err := ap.o.Store.Retry(ctx, a.request.Wait, func(ctx context.Context) (err error) {
		if view, err = ap.o.Access.ByAgent(ctx, tenant, connectors.Ref(row.AgentID.String())); err == nil {
			_, arguments, err = ap.o.Store.Vault(tenant).ApprovalCall(ctx, row.ID)
		}
		return err
	})
	if err != nil {
		return ap.explainer.explainError(ctx, a.request.View, a.connector, err)
	}
	if !view.Agent.Enabled {
		return a.withCallID(row.ID, disabledRefusal())
	}
	tool := findTool(view, row)
	if tool == nil {
		return a.withCallID(row.ID, lostApprovalRefusal(row))
	}
	if tool.BlockedBy != "" || !tool.Listed() {
		return blockedRefusal(tool)
	}
	request := *a.request
	request.View, request.Tool, request.Arguments = view, tool, json.RawMessage(arguments.Reveal())
	request.Meta, request.Input = approvedMeta(request.Client), nil // the approver did not see the request's own, and a server may act upon them
	if err := checkKeptAccount(row.Account, tool.Connector); err != nil {
		return err
	}
	a.request, a.connector, a.account = &request, tool.Connector, row.Account
	return a.checkDefinition(row)
}

// checkKeptAccount returns a refusal if the grant binds an account now, and none was known when the call or task began.
func checkKeptAccount(kept connectors.CredentialID, connector *agentview.ConnectorView) error {
	if kept != (connectors.CredentialID{}) || connector.Grant.Account() == "" || connector.Connector.Auth.Type == connectors.AuthNone {
		return nil
	}
	return &RefusalError{Code: CodeUnavailable, Sentence: fmt.Sprintf("The account of %q was chosen after this began. Start it again.", connector.Connector.Name)}
}

// lostApprovalRefusal refuses an approved call of a tool that is no longer granted.
func lostApprovalRefusal(row connectors.Approval) *RefusalError {
	return &RefusalError{
		Code: CodeNotGranted, Sentence: "This agent lost access to the tool.", Ask: &WantedAccess{connectors.Ref(row.ConnectorID.String()), row.Tool},
	}
}

// findTool returns the tool that an approval is for, with the account that it is for; nil: the agent has none.
func findTool(v *agentview.View, row connectors.Approval) *agentview.Tool {
	connector := v.ConnectorWith(row.ConnectorID, row.Account)
	if connector == nil {
		return nil
	}
	return connector.Tool(row.Tool)
}

type storedResult struct {
	Raw     json.RawMessage `json:"raw,omitempty"`
	IsError bool            `json:"is_error,omitempty"`
	Refusal *RefusalError   `json:"refusal,omitempty"`
	RPC     *mcp.RPCError   `json:"rpc,omitempty"`
}

func toStoredResult(out Outcome, err error) storedResult {
	var (
		refusal *RefusalError
		failure *mcp.Error
	)
	switch {
	case err == nil:
		return storedResult{Raw: out.Raw, IsError: out.IsError}
	case errors.As(err, &refusal):
		return storedResult{Refusal: refusal}
	case errors.As(err, &failure) && failure.RPC != nil:
		return storedResult{RPC: failure.RPC}
	default:
		return storedResult{Refusal: &RefusalError{Code: CodeUnavailable, Sentence: "Something went wrong on our side."}}
	}
}

// toOutcome is the inverse of toStoredResult.
func (r storedResult) toOutcome(out Outcome) (Outcome, error) {
	switch {
	case r.Refusal != nil:
		return out, r.Refusal
	case r.RPC != nil:
		return out, &mcp.Error{Phase: mcp.PhaseCall, Reason: mcp.ReasonRPC, RPCCode: r.RPC.Code, RPC: r.RPC}
	}
	out.Raw, out.IsError = r.Raw, r.IsError
	return out, nil
}

const saveResultTimeout = 10 * time.Second

// saveResultWithRetry stores the result. If the database is away it retries in the background; until then the
// call counts as executing.
func (ap *approvals) saveResultWithRetry(ctx context.Context, a *activeCall, t connectors.TenantID, id connectors.ToolCallID, out Outcome, err error) {
	result := toStoredResult(out, err)
	plain, marshalErr := json.Marshal(result)
	if marshalErr != nil {
		ap.o.Log.ErrorContext(ctx, "result of an approved call not saved", slog.Any("error", marshalErr))
		return
	}
	fetches := a.hasWaiter
	save := func(ctx context.Context) error {
		saved, err := ap.saveResult(ctx, t, id, secret.Text(plain), fetches)
		if saved && !fetches {
			ap.o.logUnsaved(ctx, ap.announcer.announceByID(ctx, ap.o.Store.Tenant(t), t, id, func(task *handshakeTask) { result.toResultStatus(task, ap.o.Now().UTC()) }))
		}
		return err
	}
	if save(context.WithoutCancel(ctx)) == nil {
		return
	}
	ap.running.runBackground(func(ctx context.Context) {
		for pause := time.Second; ; pause = min(2*pause, 30*time.Second) {
			select {
			case <-time.After(pause):
			case <-ctx.Done():
				return
			}
			if save(ctx) == nil {
				return
			}
		}
	})
}

// saveResult stores the result, and marks it as fetched if a request has received it. saved: it was not stored before.
func (ap *approvals) saveResult(ctx context.Context, t connectors.TenantID, id connectors.ToolCallID, plain secret.Text, fetched bool) (saved bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, saveResultTimeout)
	defer cancel()
	saved, err = ap.o.Store.Tenant(t).Calls().FinishApproval(ctx, id, ap.o.Instance, plain)
	if err == nil && saved && fetched {
		_, err = ap.o.Store.Vault(t).FetchApproval(ctx, id)
		if fault.Is(err, fault.NotFound) {
			err = nil
		}
	}
	ap.o.logUnsaved(ctx, err)
	return saved && err == nil, err
}

// fetchResult loads the result of a call that ran in another process, or earlier.
func (ap *approvals) fetchResult(ctx context.Context, a *activeCall, id connectors.ToolCallID) (Outcome, error) {
	vault := ap.o.Store.Vault(a.request.View.Tenant.ID)
	plain, err := vault.FetchApproval(ctx, id)
	if fault.Is(err, fault.NotFound) { // another waiting request has fetched it
		plain, err = vault.ApprovalResult(ctx, id)
	}
	if err != nil {
		return Outcome{}, err
	}
	var stored storedResult
	if err := json.Unmarshal([]byte(plain.Reveal()), &stored); err != nil {
		return Outcome{}, fmt.Errorf("read the result of an approved call: %w", err)
	}
	out, err := stored.toOutcome(ap.loadOutcome(ctx, a, id))
	return out, err
}
