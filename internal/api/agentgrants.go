package api

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
)

// toolChoice is "all", or names of tools.
type toolChoice struct {
	all       bool
	names     []string
	isInvalid bool // it is neither
}

const allTools = "all"

// MarshalJSON implements json.Marshaler.
func (c toolChoice) MarshalJSON() ([]byte, error) {
	if c.all {
		return json.Marshal(allTools)
	}
	return json.Marshal(append([]string{}, c.names...))
}

// UnmarshalJSON implements json.Unmarshaler. Errors are reported later, with their path.
func (c *toolChoice) UnmarshalJSON(raw []byte) error {
	var word string
	switch {
	case json.Unmarshal(raw, &word) == nil && string(raw) != "null":
		c.all, c.isInvalid = true, word != allTools
	default:
		c.isInvalid = json.Unmarshal(raw, &c.names) != nil || c.names == nil
	}
	return nil
}

// Schema implements huma.SchemaProvider.
func (toolChoice) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{
		Description: `"all", including tools of later syncs, or server tool names.`,
		OneOf: []*huma.Schema{
			{Type: huma.TypeString, Enum: []any{allTools}},
			{Type: huma.TypeArray, Items: &huma.Schema{Type: huma.TypeString}},
		},
	}
}

// agentGrantJSON is an agent's grant of a connector.
type agentGrantJSON struct {
	ConnectorID  string            `json:"connector_id" format:"uuid"`
	Connector    string            `json:"connector" doc:"The connector's slug."`
	Name         string            `json:"name" doc:"The connector's name."`
	Enabled      bool              `json:"enabled" doc:"If false, its tools are not served."`
	Tools        toolChoice        `json:"tools"`
	Approval     *string           `json:"approval" enum:"auto,always_ask,trusted_only,always_ask_all" doc:"Overrides the agent's approval mode. Null: the agent's."`
	TrustedTools []string          `json:"trusted_tools" nullable:"false" doc:"With trusted_only, tools that need no approval."`
	PinnedTools  []string          `json:"pinned_tools" nullable:"false" doc:"Tools that stay in a lean list. See tool_list of the agent."`
	Prompts      string            `json:"prompts" enum:"none,listed" doc:"Which prompts are granted."`
	Resources    string            `json:"resources" enum:"none,listed,listed_and_templates" doc:"Which resources are granted: listed ones, or also those that match a template."`
	Ends         grantEndsJSON     `json:"ends" doc:"When parts of the grant end. {}: never."`
	Account      *string           `json:"account" doc:"The name of the account that the agent uses. Null: its owner's only one, or accounts names several."`
	Accounts     []string          `json:"accounts" nullable:"false" doc:"The names of the accounts that the agent uses. Empty: its owner's only one. With several, the agent has the connector once for each, named <slug>.<account>."`
	Ended        bool              `json:"ended" doc:"Whether all of the grant has ended, so that it permits nothing."`
	Shaping      []toolShapingJSON `json:"shaping" nullable:"false" doc:"Tools whose answers are shortened."`
	CreatedAt    time.Time         `json:"created_at"`
	UpdatedAt    time.Time         `json:"updated_at"`
}

func boundAccount(g connectors.Grant) *string {
	if len(g.Accounts) != 1 {
		return nil
	}
	return new(g.Account())
}

func viewAgentGrant(g store.GrantedConnector) agentGrantJSON {
	return agentGrantJSON{
		ConnectorID:  g.ConnectorID.String(),
		Connector:    g.Slug,
		Name:         g.Name,
		Enabled:      g.Enabled,
		Tools:        toolChoice{all: g.AllTools, names: g.Tools},
		Approval:     (*string)(g.Approval),
		TrustedTools: append([]string{}, g.TrustedTools...),
		PinnedTools:  append([]string{}, g.PinnedTools...),
		Prompts:      string(g.Prompts),
		Resources:    string(g.Resources),
		Ends:         viewGrantEnds(g.Ends),
		Account:      boundAccount(g.Grant),
		Accounts:     append([]string{}, g.Accounts...),
		Ended:        g.HasEnded(time.Now()),
		Shaping:      viewShaping(g.Shaping),
		CreatedAt:    g.CreatedAt.UTC(),
		UpdatedAt:    g.UpdatedAt.UTC(),
	}
}

// agentGrantPut is the new grant.
type agentGrantPut struct {
	Tools        toolChoice     `json:"tools"`
	Approval     *string        `json:"approval,omitempty" nullable:"true" enum:"auto,always_ask,trusted_only,always_ask_all" doc:"Overrides the agent's approval mode. Null or absent: the agent's."`
	TrustedTools []string       `json:"trusted_tools,omitempty" nullable:"false" doc:"With trusted_only, tools that need no approval."`
	PinnedTools  []string       `json:"pinned_tools,omitempty" nullable:"false" maxItems:"50" doc:"Tools that stay in a lean list, at most 50 per agent. Absent: unchanged."`
	Prompts      *string        `json:"prompts,omitempty" nullable:"true" enum:"none,listed" doc:"Null or absent: unchanged; for a new grant, listed with all tools, else none. Prompts and resources need no approval."`
	Resources    *string        `json:"resources,omitempty" nullable:"true" enum:"none,listed,listed_and_templates" doc:"As prompts, with listed_and_templates as the default with all tools."`
	Account      *string        `json:"account,omitempty" maxLength:"48" doc:"The name of the account that the agent uses. Empty: its owner's only one. Absent: unchanged."`
	Accounts     []string       `json:"accounts,omitempty" nullable:"false" maxItems:"10" doc:"In place of account: the names of several. The agent then gets the connector once for each, named <slug>.<account>."`
	Ends         *grantEndsJSON `json:"ends,omitempty" doc:"When parts of the grant end. {}: never. Absent: until is unchanged, and tools with their own end are removed unless tools names them."`
}

func (p agentGrantPut) toGrant() (connectors.Grant, error) {
	if p.Tools.isInvalid {
		return connectors.Grant{}, fault.InvalidFields(fault.Field{
			Location: "tools", Message: `tools must be "all", or an array of names.`,
		})
	}
	grant := connectors.Grant{
		AllTools: p.Tools.all, Tools: p.Tools.names, Approval: (*connectors.ApprovalMode)(p.Approval), TrustedTools: p.TrustedTools,
		PinnedTools: p.PinnedTools, Ends: p.Ends.toEnds(),
	}
	if p.Prompts != nil {
		grant.Prompts = connectors.PromptAccess(*p.Prompts)
	}
	switch {
	case p.Account != nil && p.Accounts != nil:
		return connectors.Grant{}, fault.InvalidFields(fault.Field{Location: "accounts", Message: "Set account or accounts, not both."})
	case p.Account != nil && *p.Account != "":
		grant.Accounts = []string{*p.Account}
	case p.Account != nil:
		grant.Accounts = []string{}
	default:
		grant.Accounts = p.Accounts
	}
	if p.Resources != nil {
		grant.Resources = connectors.ResourceAccess(*p.Resources)
	}
	return grant, nil
}

// AgentGrantPath is the path of an agent's grant.
type AgentGrantPath struct {
	AgentPath
	Connector string `path:"connector" doc:"A connector's id or slug."`
}

type putAgentGrantInput struct {
	AgentGrantPath
	JSON requestBody[agentGrantPut]
}

type listAgentGrantsInput struct {
	AgentPath
	Paging
}

func (h *Handler) mountAgentGrants() {
	const tag = "Agents"
	registerOperation(h, operation{
		method: http.MethodGet, path: "/api/v1/agents/{id}/connectors", id: "listAgentConnectors", tag: tag,
		summary: "List an agent's grants, by connector slug", permission: connectors.PermRead,
	}, h.listAgentGrants)
	registerOperation(h, operation{
		method: http.MethodPut, path: "/api/v1/agents/{id}/connectors/{connector}", id: "grantConnector", tag: tag,
		summary: "Grant an agent access to a connector", permission: connectors.PermManage,
	}, h.putAgentGrant)
	registerOperation(h, operation{
		method: http.MethodDelete, path: "/api/v1/agents/{id}/connectors/{connector}", id: "dropConnector", tag: tag,
		summary: "Remove an agent's access to a connector", permission: connectors.PermManage,
	}, h.dropAgentGrant)
}

func (h *Handler) listAgentGrants(ctx context.Context, actor auth.Actor, in *listAgentGrantsInput) (*response[list[agentGrantJSON]], error) {
	page, err := h.registry.Grants(ctx, actor, in.ref(), in.toPage())
	if err != nil {
		return nil, err
	}
	return newListResponse(page, viewAgentGrant), nil
}

func (h *Handler) putAgentGrant(ctx context.Context, actor auth.Actor, in *putAgentGrantInput) (*noContent, error) {
	if err := h.requireBothExist(ctx, actor, in.AgentGrantPath); err != nil {
		return nil, err
	}
	doc, err := in.JSON.readJSON()
	if err != nil {
		return nil, err
	}
	grant, err := doc.toGrant()
	if err != nil {
		return nil, err
	}
	_, err = h.registry.Grant(ctx, actor, in.ref(), connectors.Ref(in.Connector), grant)
	return nil, err
}

func (h *Handler) dropAgentGrant(ctx context.Context, actor auth.Actor, in *AgentGrantPath) (*noContent, error) {
	return nil, h.registry.DropGrant(ctx, actor, in.ref(), connectors.Ref(in.Connector))
}

// requireBothExist returns NotFound before the body is read.
func (h *Handler) requireBothExist(ctx context.Context, actor auth.Actor, in AgentGrantPath) error {
	return h.store.Tenant(actor.Tenant.ID).Snapshot(ctx, func(tx *store.Tenant) error {
		if _, err := tx.Agents().Get(ctx, in.ref()); err != nil {
			return err
		}
		_, err := tx.Connectors().Get(ctx, connectors.Ref(in.Connector))
		return err
	})
}
