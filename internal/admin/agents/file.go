package agents

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"patchbay/internal/admin/shell"
	toolpages "patchbay/internal/admin/tools"
	"patchbay/internal/agentview"
	"patchbay/internal/connectors"
	"patchbay/internal/export"
	"patchbay/internal/store"
)

// visibleToolColumns are the columns of the tools that an agent sees.
func (h *Handler) visibleToolColumns() []export.Column[*agentview.Tool] {
	columns := []export.Column[*agentview.Tool]{
		{Name: "exposed_name", Of: func(t *agentview.Tool) any { return t.Exposed }},
		{Name: "title", Of: func(t *agentview.Tool) any { return connectors.DecodeTool(t.Raw).DisplayTitle() }},
		{Name: "connector", Of: func(t *agentview.Tool) any { return t.Connector.Slug }},
		{Name: "tool", Of: func(t *agentview.Tool) any { return t.Name }},
		{Name: "blocked_by", Of: func(t *agentview.Tool) any { return t.BlockedBy }},
		{Name: "needs_approval", Of: func(t *agentview.Tool) any { return t.NeedsApprovalAt(h.Now()) }},
	}
	for _, f := range toolpages.EstimateFormats {
		columns = append(columns, export.Column[*agentview.Tool]{Name: "tokens_" + string(f), Of: func(t *agentview.Tool) any { return t.Size(f).Tokens }})
	}
	return columns
}

// agentToolFile is the file of the tools that an agent sees. A view is bounded, so they are one part.
func (h *Handler) agentToolFile(w http.ResponseWriter, r *http.Request) error {
	view, err := h.Access.LoadUncached(r.Context(), shell.Actor(r).Tenant.ID, shell.PathRef(r, "id"))
	if err != nil {
		return err
	}
	visible := readVisibleToolQuery(r.URL.Query()).selectTools(view.Tools)
	return shell.TableFile[*agentview.Tool]{Name: "agent-tools", Columns: h.visibleToolColumns(), List: func(context.Context, store.Page) (store.List[*agentview.Tool], error) {
		return store.List[*agentview.Tool]{Items: visible}, nil
	}}.Serve(h.Shell, w, r)
}

var itemColumns = []export.Column[agentview.AgentItem]{
	{Name: "kind", Of: func(item agentview.AgentItem) any { return item.Kind }},
	{Name: "exposed_key", Of: func(item agentview.AgentItem) any { return item.Exposed }},
	{Name: "connector", Of: func(item agentview.AgentItem) any { return item.Connector.Slug }},
	{Name: "key", Of: func(item agentview.AgentItem) any { return item.Key }},
	{Name: "usable", Of: func(item agentview.AgentItem) any { return item.Usable }},
}

// agentItemFile is the file of the prompts, resources and templates that an agent sees. A view is bounded, so they are one
// part.
func (h *Handler) agentItemFile(w http.ResponseWriter, r *http.Request) error {
	view, err := h.Access.LoadUncached(r.Context(), shell.Actor(r).Tenant.ID, shell.PathRef(r, "id"))
	if err != nil {
		return err
	}
	query := strings.TrimSpace(r.URL.Query().Get("q"))
	var all []agentview.AgentItem
	for _, kind := range []connectors.ItemKind{connectors.ItemPrompt, connectors.ItemResource, connectors.ItemTemplate} {
		all = append(all, matchingItems(view, kind, query)...)
	}
	return shell.TableFile[agentview.AgentItem]{Name: "agent-resources", Columns: itemColumns, List: func(context.Context, store.Page) (store.List[agentview.AgentItem], error) {
		return store.List[agentview.AgentItem]{Items: all}, nil
	}}.Serve(h.Shell, w, r)
}

var grantColumns = []export.Column[store.GrantedConnector]{
	{Name: "connector_id", Of: func(g store.GrantedConnector) any { return g.ConnectorID.String() }},
	{Name: "connector", Of: func(g store.GrantedConnector) any { return g.Slug }},
	{Name: "name", Of: func(g store.GrantedConnector) any { return g.Name }},
	{Name: "enabled", Of: func(g store.GrantedConnector) any { return g.Enabled }},
	{Name: "all_tools", Of: func(g store.GrantedConnector) any { return g.AllTools }},
	{Name: "tools", Of: func(g store.GrantedConnector) any { return g.Tools }},
	{Name: "until", Of: func(g store.GrantedConnector) any { return g.Until() }},
	{Name: "tool_ends", Of: func(g store.GrantedConnector) any { return toolEndsValue(g.ToolEnds()) }},
	{Name: "ended", Of: func(g store.GrantedConnector) any { return g.HasEnded(time.Now()) }},
	{Name: "approval", Of: func(g store.GrantedConnector) any {
		if g.Approval == nil {
			return nil // the agent's
		}
		return *g.Approval
	}},
	{Name: "trusted_tools", Of: func(g store.GrantedConnector) any { return g.TrustedTools }},
	{Name: "pinned_tools", Of: func(g store.GrantedConnector) any { return g.PinnedTools }},
	{Name: "shaping", Of: func(g store.GrantedConnector) any { return shapingValue(g.Shaping) }},
}

// toolEndsValue is when single tools end, by tool; nil: none has an end of its own.
func toolEndsValue(ends map[string]*time.Time) any {
	if len(ends) == 0 {
		return nil
	}
	raw, err := json.Marshal(ends)
	if err != nil {
		return nil
	}
	return json.RawMessage(raw)
}

// shapingValue is how answers are shortened, by tool; nil: not at all.
func shapingValue(rules map[string]connectors.Shaping) any {
	if len(rules) == 0 {
		return nil
	}
	raw, err := json.Marshal(rules)
	if err != nil {
		return nil
	}
	return json.RawMessage(raw)
}

// agentAccessFile is the file of an agent's grants.
func (h *Handler) agentAccessFile(w http.ResponseWriter, r *http.Request) error {
	a, err := h.TenantStore(r).Agents().Get(r.Context(), shell.PathRef(r, "id"))
	if err != nil {
		return err
	}
	return shell.TableFile[store.GrantedConnector]{Name: "agent-access", Columns: grantColumns, List: func(ctx context.Context, p store.Page) (store.List[store.GrantedConnector], error) {
		return h.TenantStore(r).Agents().Grants(ctx, a.ID, p)
	}}.Serve(h.Shell, w, r)
}

var tokenColumns = []export.Column[connectors.AgentToken]{
	{Name: "id", Of: func(t connectors.AgentToken) any { return t.ID.String() }},
	{Name: "name", Of: func(t connectors.AgentToken) any { return t.Name }},
	{Name: "prefix", Of: func(t connectors.AgentToken) any { return t.Prefix }},
	{Name: "created_at", Of: func(t connectors.AgentToken) any { return t.CreatedAt }},
	{Name: "expires_at", Of: func(t connectors.AgentToken) any { return t.ExpiresAt }},
	{Name: "last_used_at", Of: func(t connectors.AgentToken) any { return t.LastUsedAt }},
}

// agentTokenFile is the file of an agent's tokens, without their secrets.
func (h *Handler) agentTokenFile(w http.ResponseWriter, r *http.Request) error {
	a, err := h.TenantStore(r).Agents().Get(r.Context(), shell.PathRef(r, "id"))
	if err != nil {
		return err
	}
	return shell.TableFile[connectors.AgentToken]{Name: "agent-tokens", Columns: tokenColumns, List: func(ctx context.Context, p store.Page) (store.List[connectors.AgentToken], error) {
		return h.TenantStore(r).Agents().Tokens(ctx, a.ID, p)
	}}.Serve(h.Shell, w, r)
}
