package store

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store/dbgen"
)

// CallFilter chooses calls.
type CallFilter struct {
	Agent     *connectors.AgentID     // nil: of all agents
	Connector *connectors.ConnectorID // nil: to all connectors
	Status    connectors.CallStatus   // empty: all
	Tool      string                  // the upstream's name or the exposed one; empty: all
	Page
}

// ToolCalls lists calls, the newest first, without contents, and without arguments and tasks of more than 16 KiB.
func (t *Tenant) ToolCalls(ctx context.Context, f CallFilter) (List[connectors.ToolCall], error) {
	after, err := f.afterID("tool calls")
	if err != nil {
		return List[connectors.ToolCall]{}, err
	}
	p := dbgen.ToolCallsParams{TenantID: t.id, Status: string(f.Status), Tool: clean(f.Tool), AfterID: after, MaxRows: f.rows()}
	if f.Agent != nil {
		p.AgentID = &f.Agent.UUID
	}
	if f.Connector != nil {
		p.ConnectorID = &f.Connector.UUID
	}
	rows, err := t.q.ToolCalls(ctx, p)
	if err != nil {
		return List[connectors.ToolCall]{}, err
	}
	item := func(r dbgen.ToolCallsRow) connectors.ToolCall {
		return toolCallOf(dbgen.ToolCall{
			TenantID: r.TenantID, ID: r.ID, AgentID: r.AgentID, AgentSlug: r.AgentSlug, ConnectorID: r.ConnectorID, ConnectorSlug: r.ConnectorSlug,
			Kind: r.Kind, Tool: r.Tool, ExposedName: r.ExposedName, Source: r.Source, Caller: r.Caller, TokenID: r.TokenID,
			CredentialID: r.CredentialID, DefinitionHash: r.DefinitionHash, InstanceID: r.InstanceID, Status: r.Status, Outcome: r.Outcome,
			ErrorCode: r.ErrorCode, ErrorMessage: r.ErrorMessage, IsError: r.IsError, ApprovedBy: r.ApprovedBy, Arguments: r.Arguments,
			Task: r.Task, Progress: r.Progress, Truncated: r.Truncated, RequestBytes: r.RequestBytes, ResponseBytes: r.ResponseBytes, StartedAt: r.StartedAt,
			CompletedAt: r.CompletedAt, DurationUs: r.DurationUs, Address: r.Address, RequestID: r.RequestID,
		})
	}
	return listOf(f.Page, rows, item, "tool calls", func(r dbgen.ToolCallsRow) []string { return []string{r.ID.String()} }), nil
}

// ToolCall is one call, with all that the history has of it.
func (t *Tenant) ToolCall(ctx context.Context, id connectors.ToolCallID) (connectors.ToolCall, error) {
	row, err := t.q.ToolCall(ctx, t.id, id)
	if err != nil {
		return connectors.ToolCall{}, found(err, "tool call")
	}
	if row.Packed != nil {
		if row.Content, row.Structured, err = unpack(row.Packed); err != nil {
			return connectors.ToolCall{}, err
		}
	}
	return toolCallOf(row), nil
}

// InsertPendingCall writes the call that an approval is about, at once: a person must find it. It is not found
// where its agent or its connector is gone.
func (t *Tenant) InsertPendingCall(ctx context.Context, c connectors.ToolCall) error {
	n, err := t.q.InsertPendingCall(ctx, dbgen.InsertPendingCallParams{
		TenantID: t.id, ID: c.ID, AgentID: idOr(c.AgentID), AgentSlug: c.AgentSlug, ConnectorID: idOr(c.ConnectorID), ConnectorSlug: c.ConnectorSlug,
		Tool: clean(c.Tool), ExposedName: clean(c.ExposedName), Source: c.Source, Caller: clean(c.Caller), TokenID: c.TokenID,
		DefinitionHash: hashBytes(c.Definition), Arguments: c.Arguments, Truncated: c.Truncated, RequestBytes: c.RequestBytes, StartedAt: c.StartedAt,
		Address: clean(c.From()), RequestID: clean(c.RequestID),
	})
	return touched(n, err, "agent or connector")
}

// StartPendingCall notes that a process makes a call that was approved.
func (t *Tenant) StartPendingCall(ctx context.Context, id connectors.ToolCallID, by connectors.InstanceID, approvedBy string) error {
	return t.q.StartPendingCall(ctx, dbgen.StartPendingCallParams{TenantID: t.id, ID: id, InstanceID: &by, ApprovedBy: clean(approvedBy)})
}

// CallEnd is how a call ended that was not made.
type CallEnd struct {
	Status  connectors.CallStatus
	Outcome connectors.CallOutcome
	Code    string
	Message string
}

// EndPendingCall ends a call that waited for a person. It is false where it does not wait.
func (t *Tenant) EndPendingCall(ctx context.Context, id connectors.ToolCallID, e CallEnd) (bool, error) {
	n, err := t.q.EndPendingCall(ctx, dbgen.EndPendingCallParams{
		TenantID: t.id, ID: id, Status: e.Status, Outcome: e.Outcome, ErrorCode: e.Code, ErrorMessage: clean(e.Message),
	})
	return n > 0, err
}

// SaveCallTask notes how the task of a call is; the call goes on without the process that began it. handle is by which the agent asks for
// the task; empty: that is noted already.
func (t *Tenant) SaveCallTask(ctx context.Context, id connectors.ToolCallID, task []byte, handle string) error {
	return t.q.SaveCallTask(ctx, dbgen.SaveCallTaskParams{TenantID: t.id, ID: id, Task: task, TaskHandle: handle})
}

// EndCallTask writes the end of a call whose task ended. It is false where the call has ended already.
func (t *Tenant) EndCallTask(ctx context.Context, c connectors.ToolCall) (bool, error) {
	n, err := t.q.EndCallTask(ctx, dbgen.EndCallTaskParams{
		TenantID: t.id, ID: c.ID, Task: c.Task, Status: c.Status, Outcome: c.Outcome, ErrorCode: c.ErrorCode, ErrorMessage: clean(c.ErrorMessage),
		IsError: c.IsError, Content: c.Content, Structured: c.Structured, Truncated: c.Truncated, ResponseBytes: c.ResponseBytes,
	})
	return n > 0, err
}

// MarkUndelivered notes that nobody got the answer of a call that has ended.
func (t *Tenant) MarkUndelivered(ctx context.Context, id connectors.ToolCallID) error {
	return t.q.MarkUndelivered(ctx, t.id, id)
}

func toolCallOf(r dbgen.ToolCall) connectors.ToolCall {
	c := connectors.ToolCall{
		ID: r.ID, AgentID: r.AgentID, AgentSlug: r.AgentSlug, ConnectorID: r.ConnectorID, ConnectorSlug: r.ConnectorSlug, Kind: r.Kind,
		Tool: r.Tool, ExposedName: r.ExposedName, Source: r.Source, Caller: r.Caller, TokenID: r.TokenID, CredentialID: r.CredentialID,
		InstanceID: r.InstanceID, Status: r.Status, Outcome: r.Outcome, ErrorCode: r.ErrorCode, ErrorMessage: r.ErrorMessage,
		IsError: r.IsError, ApprovedBy: r.ApprovedBy, Arguments: r.Arguments, Content: r.Content, Structured: r.Structured, Task: r.Task,
		Truncated: r.Truncated, RequestBytes: r.RequestBytes, ResponseBytes: r.ResponseBytes, StartedAt: r.StartedAt.UTC(),
		TaskHandle:  text(r.TaskHandle),
		Progress:    progressOf(r.Progress),
		CallOrigin:  connectors.CallOriginOf(text(r.Address), text(r.RequestID)),
		CompletedAt: utc(r.CompletedAt),
	}
	if len(r.DefinitionHash) == len(connectors.Hash{}) {
		c.Definition = (*connectors.Hash)(r.DefinitionHash)
	}
	switch {
	case r.DurationUs != nil:
		c.Duration = time.Duration(*r.DurationUs) * time.Microsecond
	case !r.StartedAt.IsZero():
		c.Duration = max(0, time.Since(r.StartedAt))
	}
	return c
}

func progressOf(raw []byte) *connectors.CallProgress {
	if len(raw) == 0 {
		return nil
	}
	var p connectors.CallProgress
	if json.Unmarshal(raw, &p) != nil {
		return nil
	}
	return &p
}

// OwnedCall is a call with its tenant.
type OwnedCall struct {
	Tenant connectors.TenantID
	connectors.ToolCall
}

// Held says which calls of a batch were not written, all others being: somebody holds their tenant, their agent or their connector at this
// moment, since it is being deleted.
type Held struct{ Calls []OwnedCall }

func (h *Held) Error() string {
	return fmt.Sprintf("%d calls wait for the end of their tenant, their agent or their connector", len(h.Calls))
}

// heldOf are the calls of the tenants, agents and connectors that somebody holds; nil: there are none.
func heldOf(calls []OwnedCall, by []uuid.UUID) error {
	if len(by) == 0 {
		return nil
	}
	var left []OwnedCall
	for _, c := range calls {
		if slices.Contains(by, c.Tenant.UUID) || slices.Contains(by, idOr(c.AgentID).UUID) || slices.Contains(by, idOr(c.ConnectorID).UUID) {
			left = append(left, c)
		}
	}
	if left == nil {
		return nil
	}
	return &Held{Calls: left}
}

// BeginCalls writes calls that go on. Those that are there already stay as they are. The error is a *Held where some are left.
func (s *System) BeginCalls(ctx context.Context, calls []OwnedCall) error {
	c := columnsOf(calls)
	held, err := s.q.BeginCalls(ctx, dbgen.BeginCallsParams{
		Nobody: uuid.Nil, Numbers: c.Numbers, TenantIds: c.TenantIds, AgentIds: c.AgentIds, AgentSlugs: c.AgentSlugs, ConnectorIds: c.ConnectorIds,
		ConnectorSlugs: c.ConnectorSlugs, Kinds: c.Kinds, Tools: c.Tools, ExposedNames: c.ExposedNames, Sources: c.Sources, Callers: c.Callers,
		TokenIds: c.TokenIds, CredentialIds: c.CredentialIds, DefinitionHashes: c.DefinitionHashes, InstanceIds: c.InstanceIds,
		Statuses: c.Statuses, ApprovedBys: c.ApprovedBys, Truncateds: c.Truncateds, Addresses: c.Addresses, RequestIds: c.RequestIds,
		Heads: c.Heads, Ids: c.Ids, Arguments: c.Arguments, RequestBytes: c.RequestBytes, StartedAts: c.StartedAts,
	})
	if err != nil {
		return err
	}
	return heldOf(calls, held)
}

// EndCalls writes calls that have ended, whether or not their beginning was written. No call may be among them twice. The error is a *Held
// where some are left.
func (s *System) EndCalls(ctx context.Context, calls []OwnedCall) error {
	return s.endCalls(ctx, columnsOf(calls), calls)
}

func (s *System) endCalls(ctx context.Context, columns dbgen.EndCallsParams, calls []OwnedCall) error {
	held, err := s.q.EndCalls(ctx, columns)
	if err != nil {
		return err
	}
	return heldOf(calls, held)
}

// NoteProgress notes how far calls are that go on, by their Progress, and returns which of them were there to be noted.
func (s *System) NoteProgress(ctx context.Context, calls []OwnedCall) ([]connectors.ToolCallID, error) {
	var tenants, ids []uuid.UUID
	var progress [][]byte
	for _, c := range calls {
		raw, err := json.Marshal(c.Progress)
		if err != nil {
			return nil, err
		}
		tenants, ids, progress = append(tenants, c.Tenant.UUID), append(ids, c.ID.UUID), append(progress, raw)
	}
	return s.q.NoteProgress(ctx, tenants, ids, progress)
}

// CloseCallsOf ends the calls that a process left behind.
func (s *System) CloseCallsOf(ctx context.Context, id connectors.InstanceID) error {
	return s.q.CloseCallsOf(ctx, &id)
}

// idOr is an id, or the zero one.
func idOr[T any](id *T) T {
	if id == nil {
		var none T
		return none
	}
	return *id
}

// Passing tells whether a write that failed may succeed later as it is: the database is away, or was busy with the same rows.
func Passing(err error) bool { return fault.Is(err, fault.Unavailable) }
