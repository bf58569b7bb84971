package calls

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"patchbay/internal/admin/shell"
	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/export"
	"patchbay/internal/fault"
	"patchbay/internal/i18n"
	"patchbay/internal/store"
	"patchbay/web"
	"patchbay/web/templates"
)

// CallQuery is the filter of a list of calls.
type CallQuery struct {
	agent, connector, tool string
	status                 connectors.CallStatus
}

// ReadCallQuery reads the filters of a list of calls from an address.
func ReadCallQuery(q url.Values) CallQuery {
	return CallQuery{
		agent: q.Get("agent"), connector: q.Get("connector"), tool: strings.TrimSpace(q.Get("tool")),
		status: connectors.CallStatus(q.Get("status")),
	}
}

// IsFiltered reports whether any filter is set.
func (q CallQuery) IsFiltered() bool { return q != CallQuery{} }

// URLValues returns the filters as an address has them.
func (q CallQuery) URLValues() url.Values {
	values := url.Values{}
	for name, value := range map[string]string{"agent": q.agent, "connector": q.connector, "tool": q.tool, "status": string(q.status)} {
		if value != "" {
			values.Set(name, value)
		}
	}
	return values
}

// callList lists tool calls, newest first.
func (h *Handler) callList(w http.ResponseWriter, r *http.Request) error {
	query := ReadCallQuery(r.URL.Query())
	var found callPage
	var quotas []templates.QuotaBar
	err := h.TenantStore(r).Snapshot(r.Context(), func(tx *store.Tenant) (err error) {
		if found, err = h.findCalls(r, tx, query, h.Calls.CallsIn); err != nil {
			return err
		}
		quotas, err = h.ExhaustedQuotas(r, tx.Calls())
		return err
	})
	if err != nil {
		return err
	}
	frame := found.frameWithEvents(h.NewFrame(r, templates.NavCalls, shell.NewCrumb(i18n.T(r.Context(), "Calls"), "")), query, "calls")
	page := templates.CallsPage{
		Frame:      frame,
		Filter:     query.toForm(),
		List:       h.CallListView(r.Context(), found.calls, query, frame.Can, shell.NewPager(r, found.calls.Next)),
		Agents:     found.agents,
		Connectors: found.connectors,
		Statuses:   callStatusOptions(r.Context()),
		Quotas:     quotas,
	}
	return h.Respond.Page(w, r, http.StatusOK, templates.Calls(page))
}

// callPage is a page of calls with the filter's options.
type callPage struct {
	calls              store.List[connectors.ToolCall]
	isFirst            bool
	agents, connectors []templates.Option
}

// findCalls reads the page of calls that a request asks for.
func (h *Handler) findCalls(r *http.Request, tenant *store.Tenant, q CallQuery, read ReadCalls) (found callPage, err error) {
	agents, err := tenant.Agents().List(r.Context(), store.Page{Limit: store.MaxLimit})
	if err != nil {
		return found, err
	}
	all, err := tenant.Connectors().List(r.Context(), store.ConnectorFilter{Page: store.Page{Limit: store.MaxLimit}})
	if err != nil {
		return found, err
	}
	filter, err := h.CallFilter(r.Context(), tenant, q, agents.Items, all.Items)
	if err != nil {
		return found, err
	}
	filter.Cursor = r.URL.Query().Get("cursor")
	if filter.Limit >= 0 {
		filter.Limit = shell.PageSize(r)
	}
	found = callPage{
		isFirst:    filter.Cursor == "",
		agents:     shell.WithChosen(agentOptions(r.Context(), agents.Items), q.agent),
		connectors: shell.WithChosen(connectorOptions(r.Context(), all.Items), q.connector),
	}
	if filter.Limit >= 0 {
		found.calls, err = read(r.Context(), tenant, shell.Actor(r), filter)
	}
	return found, err
}

// frameWithEvents subscribes the first page to changes.
func (p callPage) frameWithEvents(frameWithEvents templates.Frame, q CallQuery, on string) templates.Frame {
	if p.isFirst {
		live := q.URLValues()
		live.Set("on", on)
		frameWithEvents.Listen = shell.WithQuery("/events", live)
	}
	return frameWithEvents
}

// CallListView is the part of the page that the event stream replaces.
func (h *Handler) CallListView(ctx context.Context, calls store.List[connectors.ToolCall], q CallQuery, can templates.Permissions, p templates.Pager) templates.CallList {
	view := templates.CallList{
		Asset: web.Asset, Count: shell.FormatCount(ctx, len(calls.Items), p, "%s call", "%s calls"), Filtered: q.IsFiltered(), Acts: can.Sync, Pager: p,
	}
	for _, c := range calls.Items {
		view.Rows = append(view.Rows, CallRow(ctx, c, can, h.Now()))
	}
	return view
}

// noCallsFilter matches no call.
var noCallsFilter = store.CallFilter{Page: store.Page{Limit: -1}}

// CallFilter resolves the query's names, first among the given agents and connectors. An unknown name matches
// no calls.
func (h *Handler) CallFilter(
	ctx context.Context, tenant *store.Tenant, q CallQuery, agents []connectors.Agent, all []connectors.Connector,
) (store.CallFilter, error) {
	f := store.CallFilter{Status: q.status, Tool: q.tool}
	if q.status != "" && !slices.Contains(callStatuses, q.status) {
		return noCallsFilter, nil
	}
	if q.agent != "" {
		a, err := agentBySlug(ctx, tenant.Agents(), q.agent, agents)
		if err != nil {
			return filterForLookupError(err)
		}
		f.Agent = &a.ID
	}
	if q.connector != "" {
		c, err := shell.ConnectorBySlug(ctx, tenant.Connectors(), q.connector, all)
		if err != nil {
			return filterForLookupError(err)
		}
		f.Connector = &c.ID
	}
	return f, nil
}

func filterForLookupError(err error) (store.CallFilter, error) {
	if fault.Is(err, fault.NotFound) {
		return noCallsFilter, nil
	}
	return store.CallFilter{}, err
}

func agentBySlug(ctx context.Context, tenant store.Agents, slug string, known []connectors.Agent) (connectors.Agent, error) {
	for _, a := range known {
		if a.Slug == slug {
			return a, nil
		}
	}
	return tenant.Get(ctx, connectors.Ref(slug))
}

// ReadCalls reads a page of calls from a tenant, or from a snapshot of it.
type ReadCalls func(context.Context, *store.Tenant, auth.Actor, store.CallFilter) (store.List[connectors.ToolCall], error)

var callColumns = []export.Column[connectors.ToolCall]{
	{Name: "id", Of: func(c connectors.ToolCall) any { return c.ID.String() }},
	{Name: "started_at", Of: func(c connectors.ToolCall) any { return c.StartedAt }},
	{Name: "completed_at", Of: func(c connectors.ToolCall) any { return c.CompletedAt }},
	{Name: "duration_ms", Of: func(c connectors.ToolCall) any {
		if !c.Status.Ended() {
			return nil
		}
		return shell.ToMilliseconds(c.Duration)
	}},
	{Name: "agent", Of: func(c connectors.ToolCall) any { return c.AgentSlug }},
	{Name: "connector", Of: func(c connectors.ToolCall) any { return c.ConnectorSlug }},
	{Name: "kind", Of: func(c connectors.ToolCall) any { return c.Kind }},
	{Name: "tool", Of: func(c connectors.ToolCall) any { return c.Tool }},
	{Name: "exposed_name", Of: func(c connectors.ToolCall) any { return c.ExposedName }},
	{Name: "source", Of: func(c connectors.ToolCall) any { return c.Source }},
	{Name: "caller", Of: func(c connectors.ToolCall) any { return c.Caller }},
	{Name: "address", Of: func(c connectors.ToolCall) any { return c.From() }},
	{Name: "request_id", Of: func(c connectors.ToolCall) any { return c.RequestID }},
	{Name: "status", Of: func(c connectors.ToolCall) any { return c.Status }},
	{Name: "outcome", Of: func(c connectors.ToolCall) any { return c.Outcome }},
	{Name: "error_code", Of: func(c connectors.ToolCall) any { return c.ErrorCode }},
	{Name: "error_message", Of: func(c connectors.ToolCall) any { return c.ErrorMessage }},
	{Name: "structured_valid", Of: func(c connectors.ToolCall) any {
		if c.StructuredValid == nil {
			return nil
		}
		return *c.StructuredValid
	}},
	{Name: "approved_by", Of: func(c connectors.ToolCall) any { return c.ApprovedBy }},
	{Name: "request_bytes", Of: func(c connectors.ToolCall) any { return c.RequestBytes }},
	{Name: "response_bytes", Of: func(c connectors.ToolCall) any { return c.ResponseBytes }},
}

func (h *Handler) callFile(w http.ResponseWriter, r *http.Request) error {
	return h.callsFile(w, r, "calls", callColumns, h.Calls.CallsIn)
}

// callsFile is the file of a list that is filtered as calls are.
func (h *Handler) callsFile(w http.ResponseWriter, r *http.Request, name string, columns []export.Column[connectors.ToolCall], read ReadCalls) error {
	filter, err := h.CallFilter(r.Context(), h.TenantStore(r), ReadCallQuery(r.URL.Query()), nil, nil)
	if err != nil {
		return err
	}
	list := func(ctx context.Context, p store.Page) (store.List[connectors.ToolCall], error) {
		filter.Page = p
		return read(ctx, h.TenantStore(r), shell.Actor(r), filter)
	}
	if filter.Limit < 0 {
		list = shell.EmptyList[connectors.ToolCall]
	}
	return shell.TableFile[connectors.ToolCall]{Name: name, Columns: columns, List: list}.Serve(h.Shell, w, r)
}
