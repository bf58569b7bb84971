package api

import (
	"context"
	"net/http"
	"time"

	"patchbay/internal/agentview"
	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/store"
)

// whyJSON explains an agent's access to a tool.
type whyJSON struct {
	Tool         string            `json:"tool" doc:"The requested exposed name."`
	Connector    *string           `json:"connector" doc:"The connector's slug. Null if no connector has the tool."`
	Name         *string           `json:"name" doc:"The server's name for it. Null if connector is null."`
	Sees         bool              `json:"sees" doc:"Whether the agent's tool list includes it."`
	MayCall      bool              `json:"may_call" doc:"Whether a call would run or wait for approval."`
	State        string            `json:"state" enum:"ok,held,new,rejected,disabled,removed,not_granted,ended,malformed,renamed,agent_disabled,tasks_missing,unknown"`
	Asks         bool              `json:"asks" doc:"Whether a call needs approval."`
	AllowedUntil *time.Time        `json:"allowed_until" doc:"When the standing approval to call it ends. Null if none."`
	GrantedUntil *time.Time        `json:"granted_until" doc:"When the grant of the tool ends or ended. Null if never."`
	Prompts      *string           `json:"prompts" enum:"none,listed" doc:"Which of the connector's prompts are granted. Null if the connector is not granted."`
	Resources    *string           `json:"resources" enum:"none,listed,listed_and_templates" doc:"As prompts, for resources."`
	ItemsUnasked bool              `json:"items_unasked" doc:"Whether prompts and resources need no approval although every tool call does."`
	Credential   whyCredentialJSON `json:"credential"`
	Unchecked    []uncheckedJSON   `json:"unchecked" doc:"Parts of the input schema that arguments are not validated against, at most 20: too costly or not supported. Arguments that cannot be validated within 50 ms are sent unchecked; the log names the call."`
	Advice       string            `json:"advice" doc:"How to get access."`
}

// uncheckedJSON is a part of a schema that is not validated.
type uncheckedJSON struct {
	Pointer string `json:"place" doc:"JSON pointer into the server's schema. Empty: the whole schema."`
	Reason  string `json:"reason" doc:"pattern_too_large, pattern_not_supported, reference_not_followed, reference_endless, dialect_not_supported, keyword_not_valid, schema_too_large, or arguments_too_large (large or deeply nested arguments may exceed the limit). More may be added."`
}

// whyCredentialJSON is the credential that a call would use.
type whyCredentialJSON struct {
	Mode    string `json:"mode" doc:"shared or per_agent. Empty if no connector is granted."`
	Owner   string `json:"owner" doc:"shared, agent, or none if the server needs none. Empty if no connector is granted."`
	Account string `json:"account" doc:"The account's name: the one that the grant binds, else the owner's only one. Empty: it has none, or the caller may not read it."`
	Status  string `json:"status" doc:"active, expired, refresh_failed, revoked, missing or not_needed. Empty if no connector is granted."`
}

func viewWhy(w agentview.ToolAccess) whyJSON {
	out := whyJSON{
		Tool: w.Exposed, Sees: w.Listed, MayCall: w.Callable, State: w.State, Asks: w.NeedsApproval, AllowedUntil: toUTC(w.AllowedUntil), GrantedUntil: toUTC(w.GrantEnd), Advice: w.Advice,
		Unchecked:  []uncheckedJSON{},
		Credential: whyCredentialJSON{Mode: string(w.Credential.Mode), Owner: w.Credential.Owner, Account: w.Credential.Account, Status: w.Credential.Status},
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
		summary: "Explain whether an agent may call a tool", permission: connectors.PermRead,
	}, h.whyAgentTool)
}

func (h *Handler) whyAgentTool(ctx context.Context, actor auth.Actor, in *whyInput) (*response[whyJSON], error) {
	why, err := h.access.ExplainTool(ctx, actor.Tenant.ID, in.ref(), in.Tool)
	if err == nil {
		err = h.hideWhyAccount(ctx, actor, in.ref(), &why.Credential)
	}
	if err != nil {
		return nil, err
	}
	return &response[whyJSON]{Body: viewWhy(why)}, nil
}

// hideWhyAccount clears the name of another person's account.
func (h *Handler) hideWhyAccount(ctx context.Context, actor auth.Actor, agent connectors.Ref, c *agentview.CredentialAccess) error {
	if c.Account == "" || c.Owner != "agent" || actor.Role.May(connectors.PermManage) {
		return nil
	}
	return h.store.Tenant(actor.Tenant.ID).Snapshot(ctx, func(tx *store.Tenant) error {
		owner, err := tx.Agents().Get(ctx, agent)
		if err != nil {
			return err
		}
		shown := []connectors.Credential{{AgentID: &owner.ID, Name: c.Account}}
		err = actor.HideAccounts(ctx, tx.Accounts(), shown)
		c.Account = shown[0].Name
		return err
	})
}
