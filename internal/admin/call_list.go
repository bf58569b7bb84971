package admin

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/i18n"
	"patchbay/internal/store"
	"patchbay/web"
	"patchbay/web/templates"
)

// callQuery is the filter of a list of calls.
type callQuery struct {
	agent, connector, tool string
	status                 connectors.CallStatus
}

func readCallQuery(q url.Values) callQuery {
	return callQuery{
		agent: q.Get("agent"), connector: q.Get("connector"), tool: strings.TrimSpace(q.Get("tool")),
		status: connectors.CallStatus(q.Get("status")),
	}
}

func (q callQuery) isFiltered() bool { return q != callQuery{} }

func (q callQuery) urlValues() url.Values {
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
	query := readCallQuery(r.URL.Query())
	var found callPage
	var quotas []templates.QuotaBar
	err := h.tenantStore(r).Snapshot(r.Context(), func(tx *store.Tenant) (err error) {
		if found, err = h.findCalls(r, tx, query, h.calls.CallsIn); err != nil {
			return err
		}
		quotas, err = h.exhaustedQuotas(r, tx)
		return err
	})
	if err != nil {
		return err
	}
	frame := found.frameWithEvents(h.newFrame(r, templates.NavCalls, newCrumb(i18n.T(r.Context(), "Calls"), "")), query, "calls")
	page := templates.CallsPage{
		Frame:      frame,
		Filter:     query.toForm(),
		List:       h.callListView(r.Context(), found.calls, query, frame.Can, newPager(r, found.calls.Next)),
		Agents:     found.agents,
		Connectors: found.connectors,
		Statuses:   callStatusOptions(r.Context()),
		Quotas:     quotas,
	}
	return h.respond.Page(w, r, http.StatusOK, templates.Calls(page))
}

// callPage is a page of calls with the filter's options.
type callPage struct {
	calls              store.List[connectors.ToolCall]
	isFirst            bool
	agents, connectors []templates.Option
}

// findCalls reads the page of calls that a request asks for.
func (h *Handler) findCalls(r *http.Request, tenant *store.Tenant, q callQuery, read readCalls) (found callPage, err error) {
	agents, err := tenant.Agents(r.Context(), store.Page{Limit: store.MaxLimit})
	if err != nil {
		return found, err
	}
	all, err := tenant.Connectors(r.Context(), store.ConnectorFilter{Page: store.Page{Limit: store.MaxLimit}})
	if err != nil {
		return found, err
	}
	filter, err := h.callFilter(r.Context(), tenant, q, agents.Items, all.Items)
	if err != nil {
		return found, err
	}
	filter.Cursor = r.URL.Query().Get("cursor")
	if filter.Limit >= 0 {
		filter.Limit = pageSize(r)
	}
	found = callPage{
		isFirst:    filter.Cursor == "",
		agents:     withChosen(agentOptions(r.Context(), agents.Items), q.agent),
		connectors: withChosen(connectorOptions(r.Context(), all.Items), q.connector),
	}
	if filter.Limit >= 0 {
		found.calls, err = read(r.Context(), tenant, actor(r), filter)
	}
	return found, err
}

// frameWithEvents subscribes the first page to changes.
func (p callPage) frameWithEvents(frameWithEvents templates.Frame, q callQuery, on string) templates.Frame {
	if p.isFirst {
		live := q.urlValues()
		live.Set("on", on)
		frameWithEvents.Listen = withQuery("/events", live)
	}
	return frameWithEvents
}

// withChosen adds the chosen value if the options, which are bounded, do not have it.
func withChosen(options []templates.Option, chosen string) []templates.Option {
	if slices.ContainsFunc(options, func(o templates.Option) bool { return o.Value == chosen }) {
		return options
	}
	return append(options, templates.Option{Value: chosen, Label: shortenText(chosen, maxName)})
}

// callListView is the part of the page that the event stream replaces.
func (h *Handler) callListView(ctx context.Context, calls store.List[connectors.ToolCall], q callQuery, can templates.Permissions, p templates.Pager) templates.CallList {
	view := templates.CallList{
		Asset: web.Asset, Count: formatCount(ctx, len(calls.Items), p, "%s call", "%s calls"), Filtered: q.isFiltered(), Acts: can.Sync, Pager: p,
	}
	for _, c := range calls.Items {
		view.Rows = append(view.Rows, callRow(ctx, c, can, h.now()))
	}
	return view
}

// noCallsFilter matches no call.
var noCallsFilter = store.CallFilter{Page: store.Page{Limit: -1}}

// callFilter resolves the query's names, first among the given agents and connectors. An unknown name matches
// no calls.
func (h *Handler) callFilter(
	ctx context.Context, tenant *store.Tenant, q callQuery, agents []connectors.Agent, all []connectors.Connector,
) (store.CallFilter, error) {
	f := store.CallFilter{Status: q.status, Tool: q.tool}
	if q.status != "" && !slices.Contains(callStatuses, q.status) {
		return noCallsFilter, nil
	}
	if q.agent != "" {
		a, err := agentBySlug(ctx, tenant, q.agent, agents)
		if err != nil {
			return filterForLookupError(err)
		}
		f.Agent = &a.ID
	}
	if q.connector != "" {
		c, err := connectorBySlug(ctx, tenant, q.connector, all)
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

func agentBySlug(ctx context.Context, tenant *store.Tenant, slug string, known []connectors.Agent) (connectors.Agent, error) {
	for _, a := range known {
		if a.Slug == slug {
			return a, nil
		}
	}
	return tenant.Agent(ctx, connectors.Ref(slug))
}

func connectorBySlug(ctx context.Context, tenant *store.Tenant, slug string, known []connectors.Connector) (connectors.Connector, error) {
	for _, c := range known {
		if c.Slug == slug {
			return c, nil
		}
	}
	return tenant.Connector(ctx, connectors.Ref(slug))
}
