package toolcall

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"time"

	"patchbay/internal/access"
	"patchbay/internal/connectors"
	"patchbay/internal/mcp"
	"patchbay/internal/store"
)

// What an agent carries for us is sealed to it: any process opens it, and nobody else's does. It holds what a server handed out, which the
// agent is not to see under another agent's session, and which of our calls it belongs to.

const (
	purposeState = "call state"
	purposeTask  = "task"
)

// stateLife is how long a call may go on with a state. Who takes longer makes the call anew.
const stateLife = time.Hour

// stateBox is where a letter says that nobody has gone on with a state yet.
const stateBox = "goes-on-"

// state is the requestState of a call that goes on with another request.
type state struct {
	State    json.RawMessage `json:"s,omitempty"` // the server's own; empty: it has none
	Call     []byte          `json:"c"`           // hash of the call: it goes on with the same arguments
	Until    time.Time       `json:"u"`           // as long as it is good for
	Approved string          `json:"a,omitempty"` // by whom
	Once     string          `json:"o,omitempty"` // where it is approved: the mail box that says that nobody has gone on with it yet

	Talk *connectors.ToolCallID `json:"t,omitempty"` // that waits for an answer; nil: the server knows by the state
}

// task is the id of a task.
type task struct {
	ID        string                 `json:"i,omitempty"` // the server's own; empty: the call waits for a person
	Connector connectors.ConnectorID `json:"c"`
	Call      connectors.ToolCallID  `json:"t"`
}

// ownerOf names an agent in the seal of a handle.
func ownerOf(v *access.View) string { return v.Tenant.ID.String() + " " + v.Agent.ID.String() }

func (c *Caller) sealHandle(v *access.View, purpose string, what any) (json.RawMessage, error) {
	plain, err := json.Marshal(what)
	if err != nil {
		return nil, err
	}
	handle, err := c.o.Store.SealHandle(purpose, ownerOf(v), plain)
	if err != nil {
		return nil, fmt.Errorf("seal a handle: %w", err)
	}
	return json.Marshal(handle)
}

// openHandle reads a handle that the client sent, a JSON string. ok is false where it is not one of this agent's.
func (c *Caller) openHandle(v *access.View, purpose string, sent json.RawMessage, what any) (ok bool) {
	var handle string
	if json.Unmarshal(sent, &handle) != nil {
		return false
	}
	plain, err := c.o.Store.OpenHandle(purpose, ownerOf(v), handle)
	return err == nil && json.Unmarshal(plain, what) == nil
}

// goesOn reads what a call goes on with.
func (a *attempt) goesOn() error {
	in := a.order.Input
	if in == nil {
		return nil
	}
	a.went = &state{}
	if len(in.State) == 0 {
		return nil // the server may know by the answers alone
	}
	known := a.openHandle(a.order.View, purposeState, in.State, a.went)
	if !known || string(a.went.Call) != string(a.hash()) || !a.o.Now().Before(a.went.Until) {
		return staleState()
	}
	return nil
}

// talks tells whether the request answers a call of ours that is under way. Whatever else a client sends along with a call, it is a call like any
// other: it is sent to the server anew.
func (a *attempt) talks() bool { return a.went != nil && a.went.Talk != nil }

func staleState() error {
	return &BadArguments{Sentence: "The requestState is not one of this call, is more than an hour old, or was used already. Make the call anew, without it."}
}

// handOutState is a request for input whose state is ours.
func (a *attempt) handOutState(ctx context.Context, r *mcp.Result) (json.RawMessage, error) {
	s := state{State: r.InputRequired.State, Call: a.hash(), Until: a.o.Now().Add(stateLife), Approved: a.call.ApprovedBy}
	if s.Approved != "" {
		s.Once = stateBox + newCallID().String()
		if err := a.leaveOnce(ctx, s); err != nil {
			return nil, a.explain(ctx, a.order.View, a.reach, err)
		}
	}
	handle, err := a.sealHandle(a.order.View, purposeState, s)
	if err != nil {
		return nil, err
	}
	return withMember(r.Raw, "requestState", handle), nil
}

// leaveOnce leaves the letter by which a state that a person's approval goes with is used once, at whatever process.
func (a *attempt) leaveOnce(ctx context.Context, s state) error {
	v := a.order.View
	return a.o.Store.RetryUnsent(ctx, a.order.Wait, func(ctx context.Context) error {
		return a.o.Store.Tenant(v.Tenant.ID).PutMail(ctx, store.NewMail{
			AgentID: v.Agent.ID, Box: s.Once, Message: "once", Urgent: true, ExpiresAt: s.Until,
		})
	})
}

// useApproval uses up the approval that a call goes on with, where it does. A call that could not be made now uses up nothing.
func (a *attempt) useApproval(ctx context.Context) error {
	if a.went == nil || a.went.Approved == "" {
		return nil
	}
	if err := a.ready(ctx); err != nil {
		return err
	}
	v := a.order.View
	var letters []store.Letter
	err := a.o.Store.RetryUnsent(ctx, a.order.Wait, func(ctx context.Context) (err error) {
		letters, err = a.o.Store.Vault(v.Tenant.ID).TakeMail(ctx, v.Agent.ID, a.went.Once)
		return err
	})
	if err != nil {
		return a.explain(ctx, v, a.reach, err)
	}
	if len(letters) == 0 {
		return staleState()
	}
	return nil
}

// hash tells calls apart: by agent, connector, tool and arguments, however these are written.
func (a *attempt) hash() []byte {
	h := sha256.New()
	for _, id := range []string{a.order.View.Agent.ID.String(), a.reach.Connector.ID.String(), a.order.Tool.Name} {
		fmt.Fprintf(h, "%d:%s", len(id), id)
	}
	h.Write(canonical(a.arguments()))
	return h.Sum(nil)
}
