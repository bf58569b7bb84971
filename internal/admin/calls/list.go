package calls

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

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
	rangeKey, from, to     string // from and to: of a custom range
}

// ReadCallQuery reads the filters of a list of calls from an address.
func ReadCallQuery(q url.Values) CallQuery {
	return CallQuery{
		agent: q.Get("agent"), connector: q.Get("connector"), tool: strings.TrimSpace(q.Get("tool")),
		status:   connectors.CallStatus(q.Get("status")),
		rangeKey: q.Get("range"), from: q.Get("from"), to: q.Get("to"),
	}
}

// Of returns the query for one connector.
func (q CallQuery) Of(c connectors.Connector) CallQuery {
	q.connector = c.Slug
	return q
}

// IsFiltered reports whether any filter is set.
func (q CallQuery) IsFiltered() bool { return q != CallQuery{} }

// URLValues returns the filters as an address has them.
func (q CallQuery) URLValues() url.Values {
	values := url.Values{}
	for name, value := range map[string]string{"agent": q.agent, "connector": q.connector, "tool": q.tool, "status": string(q.status), "range": q.rangeKey, "from": q.from, "to": q.to} {
		if value != "" {
			values.Set(name, value)
		}
	}
	return values
}

// toWidestRange is the query for the longest range; nil if it is that.
func (q CallQuery) toWidestRange() url.Values {
	q.rangeKey, q.from, q.to = namedRanges[len(namedRanges)-1].key, "", ""
	return q.URLValues()
}

// callList lists tool calls, newest first.
func (h *Handler) callList(w http.ResponseWriter, r *http.Request) error {
	query := ReadCallQuery(r.URL.Query())
	var found callPage
	var listing Listing
	var quotas []templates.QuotaBar
	err := h.TenantStore(r).Snapshot(r.Context(), func(tx *store.Tenant) (err error) {
		if found, err = h.findCalls(r, tx, query, h.Calls.CallsIn); err != nil {
			return err
		}
		if listing, err = found.readChart(r, tx, query, h.Now()); err != nil {
			return err
		}
		quotas, err = h.ExhaustedQuotas(r, tx.Calls())
		return err
	})
	if err != nil {
		return err
	}
	frame := h.NewFrame(r, templates.NavCalls, shell.NewCrumb(i18n.T(r.Context(), "Calls"), ""))
	if query.rangeKey != customRange {
		frame = found.frameWithEvents(frame, query, "calls")
	}
	page := templates.CallsPage{
		Frame:      frame,
		Filter:     query.ToForm(),
		Ranges:     RangeOptions(r.Context()),
		List:       ListView(r.Context(), listing, query, frame.Can, h.Now()),
		Agents:     found.agents,
		Connectors: found.connectors,
		Statuses:   StatusOptions(r.Context()),
		Quotas:     quotas,
	}
	page.Filter.Problem = listing.problem
	return h.Respond.Page(w, r, http.StatusOK, templates.Calls(page))
}

// MarkedCalls are calls of a list with the marks of their connectors.
type MarkedCalls struct {
	store.List[connectors.ToolCall]
	marks shell.Marks
}

// ReadMarked adds the marks to a page of calls.
func ReadMarked(ctx context.Context, h *shell.Shell, tx *store.Tenant, calls store.List[connectors.ToolCall]) (MarkedCalls, error) {
	marks, err := shell.ReadMarks(ctx, h, tx, calls.Items, func(c connectors.ToolCall) string { return c.ConnectorSlug })
	return MarkedCalls{calls, marks}, err
}

// Row shows a call of the list.
func (l MarkedCalls) Row(ctx context.Context, c connectors.ToolCall, can templates.Permissions, now time.Time) templates.CallRow {
	row := CallRow(ctx, c, can, now)
	row.Mark = l.marks.Mark(row.Connector, c.ConnectorSlug)
	return row
}

// MarkCall shows a call with the mark of its connector.
func MarkCall(ctx context.Context, h *shell.Shell, tx *store.Tenant, c connectors.ToolCall, row *templates.CallRow) error {
	marks, err := shell.ReadMarks(ctx, h, tx, []connectors.ToolCall{c}, func(c connectors.ToolCall) string { return c.ConnectorSlug })
	row.Mark = marks.Mark(row.Connector, c.ConnectorSlug)
	return err
}

// Listing is a page of calls with the chart of their range.
type Listing struct {
	calls   MarkedCalls
	pager   templates.Pager
	chart   *templates.CallChart
	problem string // what is wrong with the range; empty: nothing
}

// ReadListing reads the calls of a query that names at most a connector, which exists.
func ReadListing(r *http.Request, h *shell.Shell, tx *store.Tenant, q CallQuery, read ReadCalls) (Listing, error) {
	now := h.Now()
	c, err := tx.Connectors().Get(r.Context(), connectors.Ref(q.connector))
	if err != nil {
		return Listing{}, err
	}
	span, _ := q.timeSpan(now) // the chart reports a wrong range
	filter := store.CallFilter{Connector: &c.ID, Status: q.status, Tool: q.tool, From: span.from, To: span.to, Page: store.Page{Limit: shell.PageSize(r), Cursor: r.URL.Query().Get("cursor")}}
	found := callPage{filter: filter}
	if q.status != "" && !slices.Contains(callStatuses, q.status) {
		found.filter = noCallsFilter
	} else if err := found.readCalls(r, h, tx, read); err != nil {
		return Listing{}, err
	}
	return found.readChart(r, tx, q, now)
}

// readChart counts the calls of the query's range.
func (p callPage) readChart(r *http.Request, tx *store.Tenant, q CallQuery, now time.Time) (Listing, error) {
	ctx := r.Context()
	l := Listing{calls: p.calls, pager: shell.NewPager(r, p.calls.Next, len(p.calls.Items))}
	span, err := q.timeSpan(now)
	if wrong, ok := shell.AsFormFault(ctx, err); ok {
		l.problem = wrong.Message
	}
	if p.filter.Limit < 0 {
		return l, nil
	}
	chart, err := readChart(ctx, tx, p.filter, chartPlace{r.URL.Path, q, span})
	if err != nil {
		return l, err
	}
	l.chart, l.pager = chart.View, chart.AddTotal(l.pager)
	return l, nil
}

// ListView shows a listing.
func ListView(ctx context.Context, l Listing, q CallQuery, can templates.Permissions, now time.Time) templates.CallList {
	view := newCallList(ctx, l.calls, q, can, l.pager, now)
	view.Chart = l.chart
	return view
}

// callPage is a page of calls with the filter's options.
type callPage struct {
	calls              MarkedCalls
	isFirst            bool
	filter             store.CallFilter
	agents, connectors []templates.Option
}

// readCalls reads the calls of the page's filter.
func (p *callPage) readCalls(r *http.Request, h *shell.Shell, tx *store.Tenant, read ReadCalls) error {
	calls, err := read(r.Context(), tx, shell.Actor(r), p.filter)
	if err != nil {
		return err
	}
	p.calls, err = ReadMarked(r.Context(), h, tx, calls)
	return err
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
		filter:     filter,
		agents:     shell.WithChosen(agentOptions(r.Context(), agents.Items), q.agent),
		connectors: shell.WithChosen(connectorOptions(r.Context(), all.Items), q.connector),
	}
	if filter.Limit >= 0 {
		err = found.readCalls(r, h.Shell, tenant, read)
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
func (h *Handler) CallListView(ctx context.Context, calls MarkedCalls, q CallQuery, can templates.Permissions, p templates.Pager) templates.CallList {
	return newCallList(ctx, calls, q, can, p, h.Now())
}

func newCallList(ctx context.Context, calls MarkedCalls, q CallQuery, can templates.Permissions, p templates.Pager, now time.Time) templates.CallList {
	view := templates.CallList{
		Home: "/calls", Wider: shell.WithQuery("/calls", q.toWidestRange()),
		Asset: web.Asset, Count: shell.FormatCount(ctx, len(calls.Items), p, "%s call", "%s calls"), Filtered: q.IsFiltered(), Acts: can.Sync, Pager: p,
	}
	for _, c := range calls.Items {
		view.Rows = append(view.Rows, calls.Row(ctx, c, can, now))
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
	span, _ := q.timeSpan(h.Now()) // the page reports a wrong range
	f.From, f.To = span.from, span.to
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
	query := ReadCallQuery(r.URL.Query())
	filter, err := h.CallFilter(r.Context(), h.TenantStore(r), query, nil, nil)
	if err != nil {
		return err
	}
	if query.rangeKey == "" {
		filter.From, filter.To = time.Time{}, time.Time{}
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
