package store

import (
	"context"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/store/dbgen"
)

// TaskCalls lists the calls with open tasks, newest first, without arguments, contents and task states above 16
// KiB.
func (t Calls) TaskCalls(ctx context.Context, f CallFilter) (List[connectors.ToolCall], error) {
	after, err := f.afterID("tasks")
	if err != nil {
		return List[connectors.ToolCall]{}, err
	}
	p := dbgen.TaskCallsParams{TenantID: t.id, Status: string(f.Status), Tool: cleanText(f.Tool), AfterID: after, MaxRows: f.rowLimit()}
	if f.Agent != nil {
		p.AgentID = &f.Agent.UUID
	}
	if f.Connector != nil {
		p.ConnectorID = &f.Connector.UUID
	}
	rows, err := t.q.TaskCalls(ctx, p)
	if err != nil {
		return List[connectors.ToolCall]{}, err
	}
	return newList(f.Page, rows, toTaskCall, "tasks", func(r dbgen.TaskCallsRow) []string { return []string{r.ID.String()} }), nil
}

func toTaskCall(r dbgen.TaskCallsRow) connectors.ToolCall {
	c := toToolCall(dbgen.ToolCall{
		TenantID: r.TenantID, ID: r.ID, AgentID: r.AgentID, AgentSlug: r.AgentSlug, ConnectorID: r.ConnectorID, ConnectorSlug: r.ConnectorSlug,
		Kind: r.Kind, Tool: r.Tool, ExposedName: r.ExposedName, Source: r.Source, Caller: r.Caller, InstanceID: r.InstanceID, Status: r.Status,
		Outcome: r.Outcome, ErrorCode: r.ErrorCode, ErrorMessage: r.ErrorMessage, IsError: r.IsError, ApprovedBy: r.ApprovedBy, Task: r.Task, Progress: r.Progress,
		StructuredValid: r.StructuredValid, StructuredError: r.StructuredError,
		Truncated: r.Truncated, RequestBytes: r.RequestBytes, ResponseBytes: r.ResponseBytes, StartedAt: r.StartedAt, CompletedAt: r.CompletedAt,
		DurationUs: r.DurationUs, WaitedUs: r.WaitedUs, Address: r.Address, RequestID: r.RequestID,
	})
	c.AgentName, c.ConnectorName, c.ToolTitle = r.AgentName, r.ConnectorName, r.ToolTitle
	return c
}

// AgentTasks lists the calls of an agent that are tasks of its client, and that began after since, newest first. They
// have id, status, times, error and task state only, and no state above 16 KiB.
func (t Calls) AgentTasks(ctx context.Context, agent connectors.AgentID, since time.Time, p Page) (List[connectors.ToolCall], error) {
	filter := CallFilter{Page: p}
	after, err := filter.afterID("agent tasks")
	if err != nil {
		return List[connectors.ToolCall]{}, err
	}
	rows, err := t.q.AgentTasks(ctx, dbgen.AgentTasksParams{TenantID: t.id, AgentID: agent.UUID, Since: since, AfterID: after, MaxRows: filter.rowLimit()})
	if err != nil {
		return List[connectors.ToolCall]{}, err
	}
	return newList(p, rows, toAgentTask, "agent tasks", func(r dbgen.AgentTasksRow) []string { return []string{r.ID.String()} }), nil
}

func toAgentTask(r dbgen.AgentTasksRow) connectors.ToolCall {
	return toToolCall(dbgen.ToolCall{
		ID: r.ID, Status: r.Status, IsError: r.IsError, ErrorMessage: r.ErrorMessage, TaskHandle: r.TaskHandle, Task: r.Task,
		StartedAt: r.StartedAt, CompletedAt: r.CompletedAt,
	})
}
