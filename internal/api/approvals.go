package api

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"time"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
	"patchbay/internal/toolcall"
)

// approvalJSON is a call that waits for approval.
type approvalJSON struct {
	ID             string          `json:"id" format:"uuid" doc:"The tool call's id."`
	AgentID        string          `json:"agent_id" format:"uuid"`
	ConnectorID    string          `json:"connector_id" format:"uuid"`
	Kind           string          `json:"kind" enum:"tool,prompt,resource" doc:"What the agent asks to use. For prompts and resources, tool and name hold its name or URI."`
	Tool           string          `json:"tool" doc:"The exposed name."`
	Name           string          `json:"name" doc:"The server's name for it."`
	Account        *string         `json:"account" doc:"The account at the server that the call would use. Null if unknown, or another member's."`
	DefinitionHash string          `json:"definition_hash" doc:"The tool definition's hash."`
	Annotations    json.RawMessage `json:"annotations" doc:"The server's annotations of the tool. Null if none."`
	Effect         string          `json:"effect" doc:"What the tool may do and reach, as text. Empty if the agent no longer sees it."`
	History        triedJSON       `json:"history" doc:"The agent's recent calls of this tool."`
	Arguments      json.RawMessage `json:"arguments" doc:"All arguments. Null without permission to decide."`
	AskedAt        time.Time       `json:"asked_at"`
	ExpiresAt      time.Time       `json:"expires_at" doc:"When the approval expires."`
}

// triedJSON counts an agent's earlier calls of a tool.
type triedJSON struct {
	Calls  int `json:"calls" doc:"Among the agent's last 2000 calls, excluding this one."`
	Denied int `json:"denied" doc:"How many of them a person denied."`
}

// approveJSON is the scope of an approval.
type approveJSON struct {
	AllowForS int `json:"allow_for_s,omitempty" minimum:"0" maximum:"86400" doc:"Also allow this tool, prompt or resource without approval for this many seconds."`
}

// denyJSON is the reason of a denial.
type denyJSON struct {
	Reason string `json:"reason,omitempty" maxLength:"500" doc:"Sent to the agent."`
}

type approveInput struct {
	ToolCallPath
	JSON optionalBody[approveJSON]
}

type denyInput struct {
	ToolCallPath
	JSON optionalBody[denyJSON]
}

func (h *Handler) mountApprovals() {
	const tag = "Tool calls"
	registerOperation(h, operation{
		method: http.MethodGet, path: "/api/v1/approvals", id: "listApprovals", tag: tag,
		summary: "List calls that wait for approval, newest first", permission: connectors.PermRead,
	}, h.listApprovals)
	registerOperation(h, operation{
		method: http.MethodPost, path: "/api/v1/tool_calls/{id}/approve", id: "approveToolCall", tag: tag,
		summary: "Approve a waiting call, which then runs once", permission: connectors.PermOperate, status: http.StatusOK,
	}, h.approveCall)
	registerOperation(h, operation{
		method: http.MethodPost, path: "/api/v1/tool_calls/{id}/deny", id: "denyToolCall", tag: tag,
		summary: "Deny a waiting call", permission: connectors.PermOperate, status: http.StatusOK,
	}, h.denyCall)
}

func (h *Handler) listApprovals(ctx context.Context, actor auth.Actor, in *Paging) (*response[list[approvalJSON]], error) {
	var page store.List[connectors.Approval]
	var counts []store.CallCount
	var about map[connectors.ToolCallID]store.ApprovalAbout
	err := h.store.Tenant(actor.Tenant.ID).Snapshot(ctx, func(tx *store.Tenant) (err error) {
		if page, err = tx.Calls().WaitingApprovals(ctx, in.toPage()); err != nil {
			return err
		}
		ids := make([]connectors.ToolCallID, len(page.Items))
		for i, a := range page.Items {
			ids[i] = a.ID
		}
		if about, err = actor.ApprovalsAbout(ctx, tx, ids); err != nil {
			return err
		}
		counts, err = countEarlierCalls(ctx, tx.Agents(), page.Items)
		return err
	})
	if err != nil {
		return nil, err
	}
	out := store.List[approvalJSON]{Next: page.Next}
	for _, waiting := range page.Items {
		item, err := h.viewApproval(ctx, actor, waiting, store.CountFor(counts, waiting))
		if fault.Is(err, fault.NotFound) { // deleted meanwhile, or its agent
			continue
		}
		if err != nil {
			return nil, err
		}
		item.Account = textOrNull(about[waiting.ID].Account.Label)
		out.Items = append(out.Items, item)
	}
	return newListResponse(out, func(a approvalJSON) approvalJSON { return a }), nil
}

// countEarlierCalls counts the agents' earlier calls of these tools.
func countEarlierCalls(ctx context.Context, tenant store.Agents, waiting []connectors.Approval) ([]store.CallCount, error) {
	var agents []connectors.AgentID
	var tools []string
	for _, a := range waiting {
		agents, tools = append(agents, a.AgentID), append(tools, a.Tool)
	}
	slices.SortFunc(agents, func(a, b connectors.AgentID) int { return bytes.Compare(a.UUID[:], b.UUID[:]) })
	return tenant.CallCounts(ctx, slices.Compact(agents), tools)
}

func (h *Handler) viewApproval(ctx context.Context, actor auth.Actor, a connectors.Approval, before store.CallCount) (approvalJSON, error) {
	out := approvalJSON{
		ID:             a.ID.String(),
		AgentID:        a.AgentID.String(),
		ConnectorID:    a.ConnectorID.String(),
		Kind:           string(a.Kind),
		Tool:           a.ExposedName,
		Name:           a.Tool,
		DefinitionHash: a.Definition.String(),
		AskedAt:        a.AskedAt.UTC(),
		ExpiresAt:      a.ExpiresAt.UTC(),
		History:        triedJSON{Calls: before.Calls, Denied: before.Denied},
	}
	view, err := h.access.ByAgent(ctx, actor.Tenant.ID, connectors.Ref(a.AgentID.String()))
	if err != nil {
		return out, err
	}
	if tool := view.Tool(a.ExposedName); tool != nil && a.Kind == connectors.CallTool {
		out.Annotations, out.Effect = tool.Annotations, tool.Hints.Words()
	}
	if !actor.Role.May(connectors.PermOperate) {
		return out, nil
	}
	waiting, err := h.calls.Approval(ctx, actor, a.ID)
	out.Arguments = waiting.Arguments
	return out, err
}

func (h *Handler) approveCall(ctx context.Context, actor auth.Actor, in *approveInput) (*response[toolCallJSON], error) {
	id, err := h.requireCallExists(ctx, actor, in.ToolCallPath)
	if err != nil {
		return nil, err
	}
	doc, err := in.JSON.readJSON()
	if err != nil {
		return nil, err
	}
	return h.decideApproval(ctx, actor, id, toolcall.Decision{Approve: true, AllowFor: time.Duration(doc.AllowForS) * time.Second})
}

func (h *Handler) denyCall(ctx context.Context, actor auth.Actor, in *denyInput) (*response[toolCallJSON], error) {
	id, err := h.requireCallExists(ctx, actor, in.ToolCallPath)
	if err != nil {
		return nil, err
	}
	doc, err := in.JSON.readJSON()
	if err != nil {
		return nil, err
	}
	return h.decideApproval(ctx, actor, id, toolcall.Decision{Reason: doc.Reason})
}

func (h *Handler) decideApproval(ctx context.Context, actor auth.Actor, id connectors.ToolCallID, d toolcall.Decision) (*response[toolCallJSON], error) {
	call, err := h.calls.Decide(ctx, actor, id, d)
	if err != nil {
		return nil, err
	}
	return &response[toolCallJSON]{Body: viewToolCall(call)}, nil
}
