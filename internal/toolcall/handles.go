package toolcall

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"time"

	"patchbay/internal/agentview"
	"patchbay/internal/connectors"
	"patchbay/internal/credentials"
	"patchbay/internal/mcp"
	"patchbay/internal/store"
)

// Handles that an agent keeps for Patchbay are sealed to it: any process can open them, and no other agent's
// handle opens. A handle holds the server's own state or task id, which must not leak to other agents, and the
// call that it belongs to.

const (
	purposeState = "call state"
	purposeTask  = "task"
)

// stateTTL bounds how long a call can be resumed.
const stateTTL = time.Hour

// onceMailboxPrefix names the mail that lets a state be used once.
const onceMailboxPrefix = "goes-on-"

// callState is the requestState of a call that another request continues.
type callState struct {
	State    json.RawMessage `json:"s,omitempty"` // the server's own; empty: none
	Call     []byte          `json:"c"`           // call hash: arguments must not change
	Until    time.Time       `json:"u"`
	Approved string          `json:"a,omitempty"` // the approver
	Once     string          `json:"o,omitempty"` // mailbox of an approved state: its mail is taken on first use

	Item []byte `json:"m,omitempty"` // call hash of an approved prompt or resource; it is approved until Until

	Account connectors.CredentialID `json:"k,omitzero"` // that began the call; zero: none, or of a previous release

	MultiRound *connectors.ToolCallID `json:"t,omitempty"` // the call that waits for an answer; nil: the server recognises State
}

// handleSealer seals the handles that an agent keeps, and opens them.
type handleSealer struct {
	o         *Options
	mail      *mailboxes
	explainer *explainer
}

type taskHandle struct {
	ID        string                 `json:"i,omitempty"` // the server's own; empty: the call waits for approval
	Connector connectors.ConnectorID `json:"c"`
	Call      connectors.ToolCallID  `json:"t"`

	taskSession
	Stored *storedTask `json:"r,omitempty"` // nil: the task is not a stored result

	// Session is told what others do to the task; empty: none, as for clients of other revisions than 2025-11-25.
	Session string `json:"n,omitempty"`
}

func handleOwner(v *agentview.View) string { return v.Tenant.ID.String() + " " + v.Agent.ID.String() }

func (h *handleSealer) sealHandle(v *agentview.View, purpose string, content any) (json.RawMessage, error) {
	plain, err := json.Marshal(content)
	if err != nil {
		return nil, err
	}
	handle, err := h.o.Store.SealHandle(purpose, handleOwner(v), plain)
	if err != nil {
		return nil, fmt.Errorf("seal a handle: %w", err)
	}
	return json.Marshal(handle)
}

// openHandle opens a handle from the client, a JSON string. ok is false if it is not this agent's.
func (h *handleSealer) openHandle(v *agentview.View, purpose string, raw json.RawMessage, content any) (ok bool) {
	var handle string
	if json.Unmarshal(raw, &handle) != nil {
		return false
	}
	plain, err := h.o.Store.OpenHandle(purpose, handleOwner(v), handle)
	return err == nil && json.Unmarshal(plain, content) == nil
}

// openState opens the requestState of a resumed call.
func (h *handleSealer) openState(a *activeCall) error {
	in := a.request.Input
	if in == nil {
		return nil
	}
	a.resumed = &callState{}
	if len(in.State) == 0 {
		return nil // the server may recognise the responses alone
	}
	isOurs := h.openHandle(a.request.View, purposeState, in.State, a.resumed)
	if !isOurs || string(a.resumed.Call) != string(a.callHash()) || !h.o.Now().Before(a.resumed.Until) {
		return staleStateError()
	}
	a.account = a.resumed.Account
	if len(a.resumed.State) == 0 && a.resumed.Approved == "" {
		return nil
	}
	return checkKeptAccount(a.account, a.connector)
}

// isMultiRound reports whether the request answers a running call. Any other input is sent to the server as a
// new call.
func (a *activeCall) isMultiRound() bool { return a.resumed != nil && a.resumed.MultiRound != nil }

func staleStateError() error {
	return &InvalidArgumentsError{Sentence: "The requestState belongs to another call, is over an hour old, or was already used. Repeat the call without it."}
}

// sealInputState replaces the server's requestState by a sealed one.
func (h *handleSealer) sealInputState(ctx context.Context, a *activeCall, r *mcp.Result) (json.RawMessage, error) {
	s := callState{State: r.InputRequired.State, Call: a.callHash(), Until: h.o.Now().Add(stateTTL), Approved: a.call.ApprovedBy, Account: usedAccount(a.credential)}
	if s.Approved != "" {
		s.Once = onceMailboxPrefix + NewCallID().String()
		if err := h.putOnceMail(ctx, a.request.View, a.request.Wait, s); err != nil {
			return nil, h.explainer.explainError(ctx, a.request.View, a.connector, err)
		}
	}
	handle, err := h.sealHandle(a.request.View, purposeState, s)
	if err != nil {
		return nil, err
	}
	return withMember(r.Raw, "requestState", handle), nil
}

// putOnceMail stores the mail that makes an approved state valid once, across processes.
func (h *handleSealer) putOnceMail(ctx context.Context, v *agentview.View, wait *store.WaitBudget, s callState) error {
	return h.mail.putMail(ctx, wait, v.Tenant.ID, store.NewMail{
		AgentID: v.Agent.ID, Box: s.Once, Message: "once", Urgent: true, ExpiresAt: s.Until,
	})
}

// takeOnceMail uses up an approved state. It fails if the state was used already. After a lost reply of the database the
// repeated try fails so too.
func (h *handleSealer) takeOnceMail(ctx context.Context, v *agentview.View, connector *agentview.ConnectorView, wait *store.WaitBudget, s *callState) error {
	var letters []store.MailMessage
	err := h.o.Store.Retry(ctx, wait, func(ctx context.Context) (err error) {
		letters, err = h.o.Store.Vault(v.Tenant.ID).TakeMail(ctx, v.Agent.ID, s.Once)
		return err
	})
	switch {
	case err != nil:
		return h.explainer.explainError(ctx, v, connector, err)
	case len(letters) == 0:
		return staleStateError()
	}
	return nil
}

// consumeApproval uses up the approval of a resumed call. A call that cannot run now keeps it.
func (ap *approvals) consumeApproval(ctx context.Context, a *activeCall) error {
	if a.resumed == nil || a.resumed.Approved == "" {
		return nil
	}
	if err := ap.sender.checkReady(ctx, a); err != nil {
		return err
	}
	return ap.handles.takeOnceMail(ctx, a.request.View, a.connector, a.request.Wait, a.resumed)
}

// usedAccount is the account of a credential; zero: none.
func usedAccount(u *credentials.Credential) connectors.CredentialID {
	if u == nil {
		return connectors.CredentialID{}
	}
	return u.ID
}

// approvalHash is callHash with the account, if the grant binds one.
func (a *activeCall) approvalHash() []byte {
	if a.connector.Grant.Account() == "" {
		return a.callHash()
	}
	sum := sha256.Sum256(append(a.callHash(), a.account.UUID[:]...))
	return sum[:]
}

// callHash identifies a call by agent, connector, tool and canonical arguments, and by its account if the agent has several.
func (a *activeCall) callHash() []byte {
	h := sha256.New()
	name := a.request.Tool.Name
	if kind := a.call.Kind; kind != "" && kind != connectors.CallTool {
		name = string(kind) + "\x00" + name // no tool has such a name
	}
	parts := []string{a.request.View.Agent.ID.String(), a.connector.Connector.ID.String(), name}
	if account := a.connector.ChosenAccount(); account != "" {
		parts = append(parts, account)
	}
	for _, id := range parts {
		fmt.Fprintf(h, "%d:%s", len(id), id)
	}
	h.Write(canonicalJSON(a.rawArguments()))
	return h.Sum(nil)
}
