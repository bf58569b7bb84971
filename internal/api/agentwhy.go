package api

import (
	"context"
	"net/http"
	"time"

	"patchbay/internal/agentview"
	"patchbay/internal/auth"
	"patchbay/internal/connectors"
)

// whyJSON explains an agent's access to a tool.
type whyJSON struct {
	Tool         string            `json:"tool" doc:"The exposed name that was asked for."`
	Connector    *string           `json:"connector" doc:"The connector's slug; null: none has such a tool."`
	Name         *string           `json:"name" doc:"The name that the server gives it; null likewise."`
	Sees         bool              `json:"sees" doc:"Whether the agent's list has it."`
	MayCall      bool              `json:"may_call" doc:"Whether a call would go ahead, or ask a person."`
	State        string            `json:"state" enum:"ok,held,new,rejected,disabled,removed,not_granted,malformed,renamed,agent_disabled,tasks_missing,unknown"`
	Asks         bool              `json:"asks" doc:"Whether a call waits for a person."`
	AllowedUntil *time.Time        `json:"allowed_until" doc:"Until when it does not, though the approval mode says so; null: there is no such time."`
	Prompts      *string           `json:"prompts" enum:"none,listed" doc:"Which prompts of the connector the agent's grant includes; null: no connector is granted."`
	Resources    *string           `json:"resources" enum:"none,listed,listed_and_templates" doc:"Which of its resources; null likewise."`
	ItemsUnasked bool              `json:"items_unasked" doc:"Whether prompts and resources are used without asking, though each call of a tool needs approval."`
	Credential   whyCredentialJSON `json:"credential"`
	Unchecked    []uncheckedJSON   `json:"unchecked" doc:"Parts of the tool's input schema that arguments are not held against, at most 20: they would cost too much, or are not supported. Arguments of any tool that are too large or nested too deeply to check in 50 ms go to the server unchecked; the log names the call."`
	Advice       string            `json:"advice" doc:"What to do about it."`
}

// uncheckedJSON is a part of a schema that is not validated.
type uncheckedJSON struct {
	Pointer string `json:"place" doc:"A JSON pointer into the schema, as its server wrote it; empty: all of it."`
	Reason  string `json:"reason" doc:"pattern_too_large, pattern_not_supported, reference_not_followed, reference_endless, dialect_not_supported, keyword_not_valid, schema_too_large, or arguments_too_large where large or deeply nested arguments may be too much. More may be added."`
}

// whyCredentialJSON is the credential that a call would use.
type whyCredentialJSON struct {
	Mode   string `json:"mode" doc:"shared or per_agent; empty where no connector is granted."`
	Owner  string `json:"owner" doc:"Whose it is: shared, agent, or none where the server wants none; empty likewise."`
	Status string `json:"status" doc:"active, expired, refresh_failed, revoked, missing or not_needed; empty likewise."`
}

func viewWhy(w agentview.ToolAccess) whyJSON {
	out := whyJSON{
		Tool: w.Exposed, Sees: w.Listed, MayCall: w.Callable, State: w.State, Asks: w.NeedsApproval, AllowedUntil: toUTC(w.AllowedUntil), Advice: w.Advice,
		Unchecked:  []uncheckedJSON{},
		Credential: whyCredentialJSON{Mode: string(w.Credential.Mode), Owner: w.Credential.Owner, Status: w.Credential.Status},
	}
	for _, u := range w.Unchecked {
		out.Unchecked = append(out.Unchecked, uncheckedJSON(u))
	}
	if w.Prompts != "" {
		out.Prompts, out.Resources, out.ItemsUnasked = new(string(w.Prompts)), new(string(w.Resources)), w.ItemsUnasked
	}
	if w.Connector != "" {
		out.Connector = &w.Connector
	}
	if w.Tool != "" {
		out.Name = &w.Tool
	}
	return out
}

type whyInput struct {
	AgentPath
	Tool string `path:"name" doc:"The tool's exposed name."`
}

func (h *Handler) mountAgentWhy() {
	registerOperation(h, operation{
		method: http.MethodGet, path: "/api/v1/agents/{id}/tools/{name}/why", id: "whyAgentTool", tag: "Agents",
		summary: "Read whether an agent sees a tool and may call it, and what to do about it", permission: connectors.PermRead,
	}, h.whyAgentTool)
}

func (h *Handler) whyAgentTool(ctx context.Context, actor auth.Actor, in *whyInput) (*response[whyJSON], error) {
	why, err := h.access.ExplainTool(ctx, actor.Tenant.ID, in.ref(), in.Tool)
	if err != nil {
		return nil, err
	}
	return &response[whyJSON]{Body: viewWhy(why)}, nil
}
