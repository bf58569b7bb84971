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

// CallFilter selects calls.
type CallFilter struct {
	Agent     *connectors.AgentID     // nil: all
	Connector *connectors.ConnectorID // nil: all
	Status    connectors.CallStatus   // empty: all
	Tool      string                  // upstream or exposed name; empty: all
	From, To  time.Time               // when they began, without To; zero: any time
	Page
}

// idRange returns the ids between which the calls of a range are; nil: no bound.
func (f CallFilter) idRange() (from, to *uuid.UUID) {
	if !f.From.IsZero() {
		from = new(minUUIDv7At(f.From))
	}
	if !f.To.IsZero() {
		to = new(minUUIDv7At(f.To))
	}
	return from, to
}

// List lists calls, newest first, without contents, and without arguments and tasks above 16 KiB.
func (t Calls) List(ctx context.Context, f CallFilter) (List[connectors.ToolCall], error) {
	after, err := f.afterID("tool calls")
	if err != nil {
		return List[connectors.ToolCall]{}, err
	}
	p := dbgen.ToolCallsParams{TenantID: t.id, Status: string(f.Status), Tool: cleanText(f.Tool), AfterID: after, MaxRows: f.rowLimit()}
	p.FromID, p.ToID = f.idRange()
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
		c := toToolCall(dbgen.ToolCall{
			TenantID: r.TenantID, ID: r.ID, AgentID: r.AgentID, AgentSlug: r.AgentSlug, ConnectorID: r.ConnectorID, ConnectorSlug: r.ConnectorSlug,
			Kind: r.Kind, Tool: r.Tool, ExposedName: r.ExposedName, Source: r.Source, Caller: r.Caller, TokenID: r.TokenID,
			CredentialID: r.CredentialID, DefinitionHash: r.DefinitionHash, InstanceID: r.InstanceID, Status: r.Status, Outcome: r.Outcome,
			ErrorCode: r.ErrorCode, ErrorMessage: r.ErrorMessage, IsError: r.IsError, ApprovedBy: r.ApprovedBy, Arguments: r.Arguments,
			StructuredValid: r.StructuredValid, StructuredError: r.StructuredError,
			Task: r.Task, Progress: r.Progress, Truncated: r.Truncated, RequestBytes: r.RequestBytes, ResponseBytes: r.ResponseBytes, StartedAt: r.StartedAt,
			CompletedAt: r.CompletedAt, DurationUs: r.DurationUs, WaitedUs: r.WaitedUs, Address: r.Address, RequestID: r.RequestID, Upstream: r.Upstream,
		})
		c.AgentName, c.ConnectorName, c.ToolTitle = r.AgentName, r.ConnectorName, r.ToolTitle
		return c
	}
	return newList(f.Page, rows, item, "tool calls", func(r dbgen.ToolCallsRow) []string { return []string{r.ID.String()} }), nil
}

// Get reads one call with all that the history keeps.
func (t Calls) Get(ctx context.Context, id connectors.ToolCallID) (connectors.ToolCall, error) {
	read, err := t.q.ToolCall(ctx, t.id, id)
	if err != nil {
		return connectors.ToolCall{}, rowError(err, "tool call")
	}
	row := read.ToolCall
	if row.Packed != nil {
		if row.Content, row.Structured, err = unpackResult(row.Packed); err != nil {
			return connectors.ToolCall{}, err
		}
	}
	c := toToolCall(row)
	c.AgentName, c.ConnectorName, c.ToolTitle = read.AgentName, read.ConnectorName, read.ToolTitle
	c.TokenName, c.Account = read.TokenName, toAccountName(read.AccountAgent, read.AccountName, read.Account, read.Identity)
	return c, nil
}

// InsertPendingCall stores the call of an approval at once, so that a person finds it. It fails with NotFound
// if agent or connector is deleted.
func (t Calls) InsertPendingCall(ctx context.Context, c connectors.ToolCall) error {
	n, err := t.q.InsertPendingCall(ctx, dbgen.InsertPendingCallParams{
		TenantID: t.id, ID: c.ID, AgentID: orZero(c.AgentID), AgentSlug: c.AgentSlug, ConnectorID: orZero(c.ConnectorID), ConnectorSlug: c.ConnectorSlug,
		Kind: string(c.Kind), Tool: cleanText(c.Tool), ExposedName: cleanText(c.ExposedName), Source: c.Source, Caller: cleanText(c.Caller), TokenID: c.TokenID,
		DefinitionHash: hashBytes(c.Definition), Arguments: c.Arguments, Truncated: c.Truncated, RequestBytes: c.RequestBytes, StartedAt: c.StartedAt,
		Address: cleanText(c.From()), RequestID: cleanText(c.RequestID),
	})
	return affectedError(n, err, "agent or connector")
}

// StartPendingCall records that a process runs an approved call.
func (t Calls) StartPendingCall(ctx context.Context, id connectors.ToolCallID, by connectors.InstanceID, approvedBy string) error {
	return t.q.StartPendingCall(ctx, dbgen.StartPendingCallParams{TenantID: t.id, ID: id, InstanceID: &by, ApprovedBy: cleanText(approvedBy)})
}

// CallEnd is the end of a call that did not run.
type CallEnd struct {
	Status  connectors.CallStatus
	Outcome connectors.CallOutcome
	Code    string
	Message string
}

// EndPendingCall ends a call that waits for approval. It is false if it does not wait.
func (t Calls) EndPendingCall(ctx context.Context, id connectors.ToolCallID, e CallEnd) (bool, error) {
	n, err := t.q.EndPendingCall(ctx, dbgen.EndPendingCallParams{
		TenantID: t.id, ID: id, Status: e.Status, Outcome: e.Outcome, ErrorCode: e.Code, ErrorMessage: cleanText(e.Message),
	})
	return n > 0, err
}

// CallTask is the state of a call's task.
type CallTask struct {
	State    []byte // JSON; nil: not stored
	Handle   string // identifies the task to the agent; empty: stored already, or the agent has none
	Attached bool   // the process of the call waits for the task; false: the task outlives its process
	// ExpiresAt is when the server may forget the task; nil, or earlier than the stored time: that stays.
	ExpiresAt *time.Time
	Account   *connectors.CredentialID // that the call used; nil: stored already, or it needed none
}

// SaveCallTask stores the state of a call's task, unless the call has ended.
func (t Calls) SaveCallTask(ctx context.Context, id connectors.ToolCallID, task CallTask) error {
	return t.q.SaveCallTask(ctx, dbgen.SaveCallTaskParams{
		TenantID: t.id, ID: id, Task: task.State, CredentialID: task.Account, TaskHandle: task.Handle, Attached: task.Attached, ExpiresAt: task.ExpiresAt,
	})
}

// EndCallTask ends a call after its task ended. It is false if the call has ended already.
func (t Calls) EndCallTask(ctx context.Context, c connectors.ToolCall) (bool, error) {
	n, err := t.q.EndCallTask(ctx, dbgen.EndCallTaskParams{
		TenantID: t.id, ID: c.ID, Task: c.Task, Status: c.Status, Outcome: c.Outcome, ErrorCode: c.ErrorCode, ErrorMessage: cleanText(c.ErrorMessage),
		IsError: c.IsError, StructuredValid: c.StructuredValid, StructuredError: cleanText(c.StructuredError), Content: c.Content, Structured: c.Structured, Truncated: c.Truncated, ResponseBytes: c.ResponseBytes,
	})
	return n > 0, err
}

// MarkUndelivered records that the response of an ended call was not delivered.
func (t Calls) MarkUndelivered(ctx context.Context, id connectors.ToolCallID) error {
	return t.q.MarkUndelivered(ctx, t.id, id)
}

func toToolCall(r dbgen.ToolCall) connectors.ToolCall {
	c := connectors.ToolCall{
		ID: r.ID, AgentID: r.AgentID, AgentSlug: r.AgentSlug, ConnectorID: r.ConnectorID, ConnectorSlug: r.ConnectorSlug, Kind: r.Kind,
		Tool: r.Tool, ExposedName: r.ExposedName, Source: r.Source, Caller: r.Caller, TokenID: r.TokenID, CredentialID: r.CredentialID,
		InstanceID: r.InstanceID, Status: r.Status, Outcome: r.Outcome, ErrorCode: r.ErrorCode, ErrorMessage: r.ErrorMessage,
		IsError: r.IsError, ApprovedBy: r.ApprovedBy, Arguments: r.Arguments, Content: r.Content, Structured: r.Structured, Task: r.Task,
		Truncated: r.Truncated, RequestBytes: r.RequestBytes, ResponseBytes: r.ResponseBytes, StartedAt: r.StartedAt.UTC(),
		StructuredValid: r.StructuredValid, StructuredError: r.StructuredError,
		TaskHandle:  textOrEmpty(r.TaskHandle),
		Progress:    toProgress(r.Progress),
		CallOrigin:  connectors.CallOriginOf(textOrEmpty(r.Address), textOrEmpty(r.RequestID)),
		CompletedAt: toUTC(r.CompletedAt),
		Upstream:    decodeUpstream(r.Upstream),
	}
	if len(r.DefinitionHash) == len(connectors.Hash{}) {
		c.Definition = (*connectors.Hash)(r.DefinitionHash)
	}
	if r.WaitedUs != nil {
		c.Waited = time.Duration(*r.WaitedUs) * time.Microsecond
	}
	switch {
	case r.DurationUs != nil:
		c.Duration = time.Duration(*r.DurationUs) * time.Microsecond
	case !r.StartedAt.IsZero():
		c.Duration = max(0, time.Since(r.StartedAt))
	}
	return c
}

func toProgress(raw []byte) *connectors.CallProgress {
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

// LockedCallsError lists the calls of a batch that were not written because their tenant, agent or connector is
// locked for deletion. All others were written.
type LockedCallsError struct{ Calls []OwnedCall }

func (e *LockedCallsError) Error() string {
	return fmt.Sprintf("%d calls wait for the end of their tenant, their agent or their connector", len(e.Calls))
}

// newLockedCallsError selects the calls that have their tenant, agent or connector in by; nil: none.
func newLockedCallsError(calls []OwnedCall, by []uuid.UUID) error {
	if len(by) == 0 {
		return nil
	}
	var left []OwnedCall
	for _, c := range calls {
		if slices.Contains(by, c.Tenant.UUID) || slices.Contains(by, orZero(c.AgentID).UUID) || slices.Contains(by, orZero(c.ConnectorID).UUID) {
			left = append(left, c)
		}
	}
	if left == nil {
		return nil
	}
	return &LockedCallsError{Calls: left}
}

// BeginCalls writes calls in progress and skips existing ones. The error is a *LockedCallsError if some were
// not written.
func (s SystemCalls) BeginCalls(ctx context.Context, calls []OwnedCall) error {
	c := toEndParams(calls)
	locked, err := s.q.BeginCalls(ctx, dbgen.BeginCallsParams{
		Nobody: uuid.Nil, Numbers: c.Numbers, TenantIds: c.TenantIds, AgentIds: c.AgentIds, AgentSlugs: c.AgentSlugs, ConnectorIds: c.ConnectorIds,
		ConnectorSlugs: c.ConnectorSlugs, Kinds: c.Kinds, Tools: c.Tools, ExposedNames: c.ExposedNames, Sources: c.Sources, Callers: c.Callers,
		TokenIds: c.TokenIds, CredentialIds: c.CredentialIds, DefinitionHashes: c.DefinitionHashes, InstanceIds: c.InstanceIds,
		Statuses: c.Statuses, ApprovedBys: c.ApprovedBys, Truncateds: c.Truncateds, Addresses: c.Addresses, RequestIds: c.RequestIds,
		Heads: c.Heads, Ids: c.Ids, Arguments: c.Arguments, RequestBytes: c.RequestBytes, StartedAts: c.StartedAts,
	})
	if err != nil {
		return err
	}
	return newLockedCallsError(calls, locked)
}

// EndCalls writes ended calls, whether or not their beginning was written. Calls must be unique. The error is a
// *LockedCallsError if some were not written.
func (s SystemCalls) EndCalls(ctx context.Context, calls []OwnedCall) error {
	return s.endCalls(ctx, toEndParams(calls), calls)
}

func (s *system) endCalls(ctx context.Context, columns dbgen.EndCallsParams, calls []OwnedCall) error {
	locked, err := s.q.EndCalls(ctx, columns)
	if err != nil {
		return err
	}
	return newLockedCallsError(calls, locked)
}

// NoteProgress stores the Progress of calls, and their Task if it is not nil. It returns the calls that exist.
func (s SystemCalls) NoteProgress(ctx context.Context, calls []OwnedCall) ([]connectors.ToolCallID, error) {
	var tenants, ids []uuid.UUID
	var progress, tasks [][]byte
	for _, c := range calls {
		raw, err := json.Marshal(c.Progress)
		if err != nil {
			return nil, err
		}
		tenants, ids, progress = append(tenants, c.Tenant.UUID), append(ids, c.ID.UUID), append(progress, raw)
		tasks = append(tasks, c.Task)
	}
	return s.q.SaveProgress(ctx, dbgen.SaveProgressParams{TenantIds: tenants, Ids: ids, Progresses: progress, Tasks: tasks})
}

// CloseInstanceCalls ends the calls of a stopped process.
func (s SystemCalls) CloseInstanceCalls(ctx context.Context, id connectors.InstanceID) error {
	return closeCalls(func() (int64, error) { return s.q.CloseCallsOfInstance(ctx, &id, maxLinkCalls) })
}

// maxLinkCalls bounds the calls that are closed by one statement, and so a link of the chain of outcomes.
const maxLinkCalls = 2000

// closeCalls runs a statement that closes at most maxLinkCalls calls until it finds none.
func closeCalls(closeSome func() (int64, error)) error {
	for {
		if n, err := closeSome(); err != nil || n < maxLinkCalls {
			return err
		}
	}
}

// orZero returns *id, or the zero value.
func orZero[T any](id *T) T {
	if id == nil {
		var none T
		return none
	}
	return *id
}

// IsTransient reports whether a failed write may succeed unchanged later: the database is unavailable, or the
// rows were busy.
func IsTransient(err error) bool { return fault.Is(err, fault.Unavailable) }
