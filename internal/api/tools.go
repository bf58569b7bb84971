package api

import (
	"context"
	"net/http"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/store"
)

type connectorToolsInput struct {
	ConnectorPath
	Paging
	Query       string `query:"q" doc:"Search words, or a regular expression between slashes, such as /^(get|list)_/."`
	Removed     bool   `query:"removed" doc:"Include removed tools."`
	Quarantined bool   `query:"quarantined" doc:"List invalid entries of the last tool list instead."`
	State       string `query:"state" enum:"enabled,disabled,changed,held,curated" doc:"held: calls are refused until a person decides. curated: an admin changed the name or description."`
	Tag         string `query:"tag" doc:"A tag that admins set."`
	Annotation  string `query:"annotation" enum:"readOnlyHint,destructiveHint,idempotentHint,openWorldHint" doc:"An annotation that is true."`
}

type toolsInput struct {
	Paging
	Query string `query:"q" doc:"Search words, or a regular expression between slashes, such as /^(get|list)_/."`
}

func (h *Handler) mountTools() {
	const tag = "Tools"
	registerOperation(h, operation{
		method: http.MethodGet, path: "/api/v1/connectors/{id}/tools", id: "listConnectorTools", tag: tag,
		summary: "List a connector's tools", permission: connectors.PermRead,
	}, h.listConnectorTools)
	registerOperation(h, operation{
		method: http.MethodGet, path: "/api/v1/tools", id: "listTools", tag: tag,
		summary: "Search tools of all connectors", permission: connectors.PermRead,
	}, h.listTools)
}

func (h *Handler) listConnectorTools(ctx context.Context, actor auth.Actor, in *connectorToolsInput) (*response[toolListJSON], error) {
	var out *response[toolListJSON]
	err := h.store.Tenant(actor.Tenant.ID).Snapshot(ctx, func(tx *store.Tenant) (err error) {
		out, err = newConnectorToolPage(ctx, tx, in)
		return err
	})
	return out, err
}

func newConnectorToolPage(ctx context.Context, tenant *store.Tenant, in *connectorToolsInput) (*response[toolListJSON], error) {
	c, err := tenant.Connectors().Get(ctx, in.ref())
	if err != nil {
		return nil, err
	}
	if in.Quarantined {
		page, err := tenant.Tools().Quarantined(ctx, c.ID, in.toPage())
		if err != nil {
			return nil, err
		}
		return toolAnswer(newListResponse(page, viewQuarantined)), nil
	}
	filter := store.ToolFilter{
		Connector: &c.ID, Query: in.Query, Removed: in.Removed, Tag: in.Tag, Page: in.toPage(),
		State: connectors.ToolStateFilter(in.State), Hint: connectors.Hint(in.Annotation),
	}
	exposed := connectors.ExposedNames(c.Slug, c.DiscoveredTools)
	return newToolPage(ctx, tenant.Tools(), filter, func(t connectors.Tool) string {
		if name, ok := exposed[t.Name]; ok && t.AgentName() == t.Name {
			return name
		}
		return exposedNameFor(t)
	})
}

func (h *Handler) listTools(ctx context.Context, actor auth.Actor, in *toolsInput) (*response[toolListJSON], error) {
	return newToolPage(ctx, h.store.Tenant(actor.Tenant.ID).Tools(), store.ToolFilter{Query: in.Query, Page: in.toPage()}, exposedNameFor)
}

// exposedNameFor names a tool independently of the connector's others: right unless two hashes collide.
func exposedNameFor(t connectors.Tool) string {
	return connectors.ExposedName(t.ConnectorSlug, t.AgentName())
}

// newToolPage is a page of tools under the names that agents see.
func newToolPage(
	ctx context.Context, tenant store.Tools, filter store.ToolFilter, exposed func(connectors.Tool) string,
) (*response[toolListJSON], error) {
	page, err := tenant.List(ctx, filter)
	if err != nil {
		return nil, err
	}
	return toolAnswer(newListResponse(page, func(t connectors.Tool) toolJSON { return viewTool(t, exposed(t)) })), nil
}

func toolAnswer[T any](l *response[list[T]]) *response[toolListJSON] {
	out := toolListJSON{Items: make([]any, len(l.Body.Items)), NextCursor: l.Body.NextCursor}
	for i, item := range l.Body.Items {
		out.Items[i] = item
	}
	return &response[toolListJSON]{Body: out}
}
