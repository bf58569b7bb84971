package api

import (
	"context"
	"net/http"

	"patchbay/internal/agentview"
	"patchbay/internal/auth"
	"patchbay/internal/connectors"
)

// AgentItemUse is what each prompt or resource of an agent has.
type AgentItemUse struct {
	Connector string `json:"connector" doc:"The connector's slug."`
	Usable    bool   `json:"usable" doc:"False where the agent is disabled."`
}

// agentPromptJSON is a prompt that an agent sees.
type agentPromptJSON struct {
	Name       string               `json:"name" doc:"As the agent sees it at the address of all connectors."`
	ServerName string               `json:"server_name" doc:"As the server calls it, and the agent at the connector's own address."`
	Title      string               `json:"title"`
	Arguments  []promptArgumentJSON `json:"arguments" nullable:"false"`
	AgentItemUse
}

// agentResourceJSON is a resource that an agent sees.
type agentResourceJSON struct {
	URI       string `json:"uri" doc:"As the agent sees it at the address of all connectors."`
	ServerURI string `json:"server_uri" doc:"As the server calls it, and the agent at the connector's own address."`
	Name      string `json:"name"`
	Title     string `json:"title"`
	MIMEType  string `json:"mime_type" doc:"Empty: not stated."`
	AgentItemUse
}

// agentTemplateJSON is a resource template that an agent sees.
type agentTemplateJSON struct {
	URITemplate       string `json:"uri_template" doc:"As the agent sees it at the address of all connectors."`
	ServerURITemplate string `json:"server_uri_template" doc:"As the server calls it, and the agent at the connector's own address."`
	Name              string `json:"name"`
	Title             string `json:"title"`
	MIMEType          string `json:"mime_type" doc:"Empty: not stated."`
	AgentItemUse
}

// agentItemsJSON is the whole list of one kind.
type agentItemsJSON[T any] struct {
	Items []T `json:"items" nullable:"false"`
}

const aboutAgentItems = "What the agent's grants include, of the enabled connectors, ordered by the connector's slug and then as the server lists them. A few such answers are made at once; where others are waited for too long, it is 503 with Retry-After."

func (h *Handler) mountAgentItems() {
	const tag = "Agents"
	gate := newResponseGate(maxAgentToolsResponses)
	prompts := agentItems[agentPromptJSON]{h, connectors.ItemPrompt, viewAgentPrompt}
	registerOperation(h, operation{
		method: http.MethodGet, path: "/api/v1/agents/{id}/prompts", id: "listAgentPrompts", tag: tag,
		summary: "Read the prompts that an agent sees", description: aboutAgentItems, permission: connectors.PermRead, gate: gate,
	}, prompts.listAll)
	resources := agentItems[agentResourceJSON]{h, connectors.ItemResource, viewAgentResource}
	registerOperation(h, operation{
		method: http.MethodGet, path: "/api/v1/agents/{id}/resources", id: "listAgentResources", tag: tag,
		summary: "Read the resources that an agent sees", description: aboutAgentItems, permission: connectors.PermRead, gate: gate,
	}, resources.listAll)
	templates := agentItems[agentTemplateJSON]{h, connectors.ItemTemplate, viewAgentTemplate}
	registerOperation(h, operation{
		method: http.MethodGet, path: "/api/v1/agents/{id}/resource_templates", id: "listAgentResourceTemplates", tag: tag,
		summary: "Read the resource templates that an agent sees", description: aboutAgentItems, permission: connectors.PermRead, gate: gate,
	}, templates.listAll)
}

// agentItems lists the items of one kind that an agent sees.
type agentItems[T any] struct {
	h    *Handler
	kind connectors.ItemKind
	view func(agentview.AgentItem) T
}

func (l agentItems[T]) listAll(ctx context.Context, actor auth.Actor, in *AgentPath) (*response[agentItemsJSON[T]], error) {
	v, err := l.h.access.LoadUncached(ctx, actor.Tenant.ID, in.ref())
	if err != nil {
		return nil, err
	}
	out := agentItemsJSON[T]{Items: []T{}}
	for _, item := range v.Items(l.kind) {
		out.Items = append(out.Items, l.view(item))
	}
	return &response[agentItemsJSON[T]]{Body: out}, nil
}

func viewAgentItem(i agentview.AgentItem) AgentItemUse {
	return AgentItemUse{Connector: i.Connector.Connector.Slug, Usable: i.Usable}
}

func viewAgentPrompt(i agentview.AgentItem) agentPromptJSON {
	v := connectors.DecodeItem(i.Raw)
	return agentPromptJSON{Name: i.Exposed, ServerName: i.Key, Title: v.Title, Arguments: viewArguments(v.Arguments), AgentItemUse: viewAgentItem(i)}
}

func viewAgentResource(i agentview.AgentItem) agentResourceJSON {
	v := connectors.DecodeItem(i.Raw)
	return agentResourceJSON{URI: i.Exposed, ServerURI: i.Key, Name: v.Name, Title: v.Title, MIMEType: v.MIMEType, AgentItemUse: viewAgentItem(i)}
}

func viewAgentTemplate(i agentview.AgentItem) agentTemplateJSON {
	v := connectors.DecodeItem(i.Raw)
	return agentTemplateJSON{
		URITemplate: i.Exposed, ServerURITemplate: i.Key, Name: v.Name, Title: v.Title, MIMEType: v.MIMEType, AgentItemUse: viewAgentItem(i),
	}
}
