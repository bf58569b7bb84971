package toolcall

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"patchbay/internal/access"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/mcp"
	"patchbay/internal/safe"
	"patchbay/internal/secret"
	"patchbay/internal/store"
)

// takeUp makes an approved call, if no other process does. over: it was made here.
func (a *attempt) takeUp(ctx context.Context, row connectors.Approval) (out Outcome, over bool, _ error) {
	if row.ID != a.entered { // this one came in under another id
		here, err := a.enter(ctx, row.ID)
		if err != nil {
			return out, false, err
		}
		defer here.leave()
		ctx = here
	}
	claimed, err := a.claim(ctx, a.order.View.Tenant.ID, row)
	if err != nil || !claimed {
		return out, false, err
	}
	out, err = a.makeApproved(ctx, row)
	return out, true, err
}

// claim makes this process the one that makes an approved call.
func (c *Caller) claim(ctx context.Context, t connectors.TenantID, row connectors.Approval) (claimed bool, err error) {
	err = c.o.Store.Tenant(t).Tx(ctx, func(tx *store.Tenant) error {
		if claimed, err = tx.ClaimApproval(ctx, row.ID, c.o.Instance); err != nil || !claimed {
			return err
		}
		return tx.StartPendingCall(ctx, row.ID, c.o.Instance, row.DecidedBy)
	})
	return claimed && err == nil, err
}

// makeApproved makes a call that this process has claimed, keeps what came of it, and hands it out. What was approved is made: with
// the definition that the person saw, and if the agent still may.
func (a *attempt) makeApproved(ctx context.Context, row connectors.Approval) (Outcome, error) {
	tenant := a.order.View.Tenant.ID
	call, err := a.o.Store.Tenant(tenant).ToolCall(ctx, row.ID)
	if err != nil {
		call = a.call
		call.ID = row.ID
	}
	call.Status, call.ApprovedBy = connectors.CallRunning, row.DecidedBy
	a.call, a.counted = call, counted{a.order.View, a.order.Tool, call.StartedAt}
	a.entry = a.o.History.Begin(a.order.View.Tenant, call)
	a.approved, a.judged = &row, judged{spent: a.order.Wait.Spent()}
	out, err := a.makeIfStillApproved(ctx, row)
	a.keepResult(ctx, tenant, row.ID, out, err)
	return out, err
}

// makeIfStillApproved makes a call that is on record. A panic is its failure.
func (a *attempt) makeIfStillApproved(ctx context.Context, row connectors.Approval) (out Outcome, err error) {
	defer a.recovered(&out, &err)
	if err := a.stillWhatWasApproved(ctx, row); err != nil {
		return a.finish(ctx, nil, a.because(ctx, err))
	}
	return a.make(ctx)
}

// stillWhatWasApproved looks at the tool, and has its server say again what it is where that was long ago.
func (a *attempt) stillWhatWasApproved(ctx context.Context, row connectors.Approval) error {
	if err := a.stillAllowed(ctx, row); err != nil {
		return err
	}
	if err := a.current(ctx); err != nil {
		return err
	}
	return a.same(row)
}

// same tells whether the tool has the definition that the person saw.
func (a *attempt) same(row connectors.Approval) error {
	if a.order.Tool.Hash == row.Definition {
		return nil
	}
	return a.refusal(row.ID, &Refusal{Code: CodeHeld, Sentence: fmt.Sprintf("The tool %q changed after the call was asked for. Look at it, and make the call again.", row.Tool)})
}

// stillAllowed looks at the agent and the tool as they are now. What is sent then is what the person saw, and nothing besides, whoever
// waits for it.
func (a *attempt) stillAllowed(ctx context.Context, row connectors.Approval) error {
	var view *access.View
	var shown secret.Text
	tenant := a.order.View.Tenant.ID
	err := a.o.Store.Retry(ctx, a.order.Wait, func(ctx context.Context) (err error) {
		if view, err = a.o.Access.ByAgent(ctx, tenant, connectors.Ref(row.AgentID.String())); err == nil {
			_, shown, err = a.o.Store.Vault(tenant).ApprovalCall(ctx, row.ID)
		}
		return err
	})
	if err != nil {
		return a.explain(ctx, a.order.View, a.reach, err)
	}
	if !view.Agent.Enabled {
		return a.refusal(row.ID, disabled())
	}
	tool := findTool(view, row)
	if tool == nil {
		return a.refusal(row.ID, &Refusal{Code: CodeNotGranted, Sentence: "This agent may not use the tool any more."})
	}
	if tool.Held != "" || !tool.Listed() {
		return held(tool)
	}
	order := *a.order
	order.View, order.Tool, order.Arguments = view, tool, json.RawMessage(shown.Reveal())
	order.Meta, order.Input = pinned(order.Client), nil // the waiter's own nobody was shown, and a server may act upon them
	a.order, a.reach = &order, tool.Reach
	return a.same(row)
}

func findTool(v *access.View, row connectors.Approval) *access.Tool {
	for _, r := range v.Reaches {
		if r.Connector.ID == row.ConnectorID {
			return r.Tool(row.Tool)
		}
	}
	return nil
}

// keptResult is what came of an approved call, as it waits to be fetched.
type keptResult struct {
	Raw     json.RawMessage `json:"raw,omitempty"`
	IsError bool            `json:"is_error,omitempty"`
	Refusal *Refusal        `json:"refusal,omitempty"`
	RPC     *mcp.RPCError   `json:"rpc,omitempty"`
}

func keptOf(out Outcome, err error) keptResult {
	var (
		refusal *Refusal
		failure *mcp.Error
	)
	switch {
	case err == nil:
		return keptResult{Raw: out.Raw, IsError: out.IsError}
	case errors.As(err, &refusal):
		return keptResult{Refusal: refusal}
	case errors.As(err, &failure) && failure.RPC != nil:
		return keptResult{RPC: failure.RPC}
	default:
		return keptResult{Refusal: &Refusal{Code: CodeUnavailable, Sentence: "Something went wrong on our side."}}
	}
}

// result gives back what keptOf took.
func (k keptResult) result(out Outcome) (Outcome, error) {
	switch {
	case k.Refusal != nil:
		return out, k.Refusal
	case k.RPC != nil:
		return out, &mcp.Error{Phase: mcp.PhaseCall, Reason: mcp.ReasonRPC, RPCCode: k.RPC.Code, RPC: k.RPC}
	}
	out.Raw, out.IsError = k.Raw, k.IsError
	return out, nil
}

const keepTime = 10 * time.Second

// keepResult keeps what came of an approved call. While the database is away it tries again, besides the caller: until it has succeeded
// the call counts as under way.
func (a *attempt) keepResult(ctx context.Context, t connectors.TenantID, id connectors.ToolCallID, out Outcome, err error) {
	plain, marshalled := json.Marshal(keptOf(out, err))
	if marshalled != nil {
		a.o.Log.ErrorContext(ctx, "result of an approved call not kept", slog.Any("error", marshalled))
		return
	}
	if failed := a.saveResult(context.WithoutCancel(ctx), t, id, secret.Text(plain), a.fetches); failed == nil {
		return
	}
	fetches := a.fetches
	a.besides(func(ctx context.Context) {
		for pause := time.Second; ; pause = min(2*pause, 30*time.Second) {
			select {
			case <-time.After(pause):
			case <-ctx.Done():
				return
			}
			if a.saveResult(ctx, t, id, secret.Text(plain), fetches) == nil {
				return
			}
		}
	})
}

// saveResult keeps a result, and takes it for fetched where somebody has got it.
func (c *Caller) saveResult(ctx context.Context, t connectors.TenantID, id connectors.ToolCallID, plain secret.Text, fetched bool) error {
	ctx, cancel := context.WithTimeout(ctx, keepTime)
	defer cancel()
	ok, err := c.o.Store.Tenant(t).FinishApproval(ctx, id, c.o.Instance, plain)
	if err == nil && ok && fetched {
		_, err = c.o.Store.Vault(t).FetchApproval(ctx, id)
		if fault.Is(err, fault.NotFound) {
			err = nil
		}
	}
	c.logUnsaved(ctx, err)
	return err
}

// fetch hands out what came of a call that was made elsewhere, or before.
func (a *attempt) fetch(ctx context.Context, id connectors.ToolCallID) (Outcome, error) {
	vault := a.o.Store.Vault(a.order.View.Tenant.ID)
	plain, err := vault.FetchApproval(ctx, id)
	if fault.Is(err, fault.NotFound) { // another one who waited has it, too
		plain, err = vault.ApprovalResult(ctx, id)
	}
	if err != nil {
		return Outcome{}, err
	}
	var k keptResult
	if err := json.Unmarshal([]byte(plain.Reveal()), &k); err != nil {
		return Outcome{}, fmt.Errorf("read the result of an approved call: %w", err)
	}
	out, err := k.result(a.recorded(ctx, id))
	return out, err
}

// besides does something that Stop waits for, unless the process stops already.
func (c *Caller) besides(do func(ctx context.Context)) (begun bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.stopped {
		safe.GoIn(&c.crew, safe.Call, func() { do(c.life) })
	}
	return !c.stopped
}

func (c *Caller) logUnsaved(ctx context.Context, err error) {
	if err != nil {
		c.o.Log.WarnContext(ctx, "state of a call not saved", slog.Any("error", err))
	}
}
