package connectors

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"patchbay/internal/admin/shell"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/i18n"
	"patchbay/internal/manage"
	"patchbay/internal/openapi"
	"patchbay/internal/respond"
	"patchbay/web/templates"
)

// operationsPerPage is the number of operations that a page shows.
const operationsPerPage = 50

// operationsFilter says which operations are shown.
type operationsFilter struct {
	query, path, tag, method, state string
	page                            int // from 1
}

func readOperationsFilter(values url.Values) operationsFilter {
	f := operationsFilter{
		query: strings.TrimSpace(values.Get("q")), path: strings.TrimSpace(values.Get("path")), tag: values.Get("tag"), method: values.Get("method"),
		state: values.Get("state"), page: 1,
	}
	if n, err := strconv.Atoi(values.Get("page")); err == nil && n > 0 {
		f.page = n
	}
	return f
}

// toValues returns the filter as a page sends it, without the page.
func (f operationsFilter) toValues() map[string]string {
	return map[string]string{"q": f.query, "path": f.path, "tag": f.tag, "method": f.method, "state": f.state}
}

func (f operationsFilter) toHref(path string, page int) string {
	query := url.Values{}
	for name, value := range f.toValues() {
		if value != "" {
			query.Set(name, value)
		}
	}
	if page > 1 {
		query.Set("page", strconv.Itoa(page))
	}
	return shell.WithQuery(path, query)
}

func (f operationsFilter) isMatch(o manage.OperationSummary, picked bool) bool {
	switch {
	case !strings.HasPrefix(o.Path, f.path), f.tag != "" && !slices.Contains(o.Tags, f.tag), f.method != "" && f.method != o.Method:
		return false
	case f.state == "picked" && !picked, f.state == "unpicked" && picked, f.state == "new" && !o.IsNew,
		f.state == "deprecated" && !o.Deprecated, f.state == "problem" && o.Problem == "":
		return false
	}
	return f.query == "" || strings.Contains(strings.ToLower(o.Name+"\n"+o.Path+"\n"+o.Title+"\n"+o.Description), strings.ToLower(f.query))
}

// connectorOperations shows the operations of an HTTP API, and which are tools.
func (h *Handler) connectorOperations(w http.ResponseWriter, r *http.Request) error {
	o, err := h.Registry.ReadAPI(r.Context(), shell.Actor(r).Tenant.ID, shell.PathRef(r, "id"))
	if err != nil {
		return err
	}
	return h.operationsPage(w, r, http.StatusOK, newOperationsView(o, readOperationsFilter(r.URL.Query())))
}

// operationsSelect shows the operations again, with another filter or selection. It stores nothing.
func (h *Handler) operationsSelect(w http.ResponseWriter, r *http.Request) error {
	v, f, err := h.readSelection(r)
	if err != nil {
		return err
	}
	switch f.Text("do") {
	case "all":
		v.selectMatching(true)
	case "none":
		v.selectMatching(false)
	}
	return h.operationsPage(w, r, http.StatusOK, v)
}

// operationsSave makes the selected operations tools, and syncs the connector.
func (h *Handler) operationsSave(w http.ResponseWriter, r *http.Request) error {
	v, _, err := h.readSelection(r)
	if err != nil {
		return err
	}
	changed, err := h.Registry.SavePicks(r.Context(), shell.Actor(r), v.api, v.picked)
	if problem, ok := shell.AsFormFault(r.Context(), err); ok {
		v.problem = problem.Message
		return h.operationsPage(w, r, respond.Status(problem.Kind), v)
	}
	if err != nil {
		return err
	}
	return h.afterPicks(w, r, v.api.Connector, changed)
}

// afterPicks syncs an HTTP API after its tools were chosen. Its first sync is that of a new connector.
func (h *Handler) afterPicks(w http.ResponseWriter, r *http.Request, c connectors.Connector, changed bool) error {
	text, to := i18n.T(r.Context(), "Saved."), operationsPath(c.Slug)
	switch {
	case !changed || !c.Enabled:
	case c.ToolsLastSyncedAt == nil:
		return h.firstStep(w, r, c)
	default:
		if _, err := h.queueSelected(r, []connectors.Ref{connectors.Ref(c.ID.String())}); err != nil && !fault.Is(err, fault.Conflict) {
			return err
		}
		text = i18n.T(r.Context(), "Saved. Syncing the tools.")
	}
	return h.Respond.Back(w, r, to, respond.Flash{Kind: respond.Notice, Text: text})
}

func operationsPath(slug string) string { return shell.ConnectorPath(slug) + "/operations" }

// readSelection reads the form of the operations.
func (h *Handler) readSelection(r *http.Request) (v *operationsView, f shell.PostedForm, err error) {
	o, err := h.Registry.ReadAPI(r.Context(), shell.Actor(r).Tenant.ID, shell.PathRef(r, "id"))
	if err != nil {
		return nil, f, err
	}
	if f, err = shell.ReadForm(r); err != nil {
		return nil, f, err
	}
	v = newOperationsView(o, readOperationsFilter(f.Values))
	for _, key := range f.Values["add"] {
		v.picked[key] = true
	}
	for _, key := range slices.Concat(f.Values["drop"], f.Values["shown"]) {
		delete(v.picked, key)
	}
	for _, key := range f.Values["pick"] {
		v.picked[key] = true
	}
	v.dropUnknown()
	return v, f, nil
}

// operationsView is the page of operations with the selection that is not stored yet.
type operationsView struct {
	api     manage.APIOverview
	filter  operationsFilter
	picked  map[string]bool // no false values
	problem string
}

func newOperationsView(o manage.APIOverview, f operationsFilter) *operationsView {
	v := &operationsView{api: o, filter: f, picked: map[string]bool{}, problem: o.Problem}
	for _, op := range o.Operations {
		if op.IsPicked {
			v.picked[op.Key] = true
		}
	}
	return v
}

// dropUnknown removes from the selection what the document does not have any more.
func (v *operationsView) dropUnknown() {
	known := map[string]bool{}
	for _, o := range v.api.Operations {
		known[o.Key] = true
	}
	maps.DeleteFunc(v.picked, func(key string, _ bool) bool { return !known[key] })
}

// selectMatching adds all operations that match to the selection, or removes them.
func (v *operationsView) selectMatching(picked bool) {
	for _, o := range v.listMatching() {
		if !picked {
			delete(v.picked, o.Key)
		} else if o.Problem == "" {
			v.picked[o.Key] = true
		}
	}
}

func (v *operationsView) listMatching() (all []manage.OperationSummary) {
	for _, o := range v.api.Operations {
		if v.filter.isMatch(o, v.picked[o.Key]) {
			all = append(all, o)
		}
	}
	return all
}

func (h *Handler) operationsPage(w http.ResponseWriter, r *http.Request, status int, v *operationsView) error {
	ctx, c := r.Context(), v.api.Connector
	frame := h.ConnectorFrame(r, c, i18n.T(ctx, "Operations"))
	frame.Listen = "" // a change of the page would lose the selection
	page := templates.ConnectorOperationsPage{
		Frame: frame, Head: ConnectorHead(ctx, c, templates.TabOperations, h.ConnectorMark(c)), Problem: i18n.TranslateKnown(ctx, v.problem),
		Filter: templates.Form{Values: v.filter.toValues()}, Endpoints: endpointRows(ctx, v.api),
	}
	if v.api.Document != nil && v.api.Problem == "" {
		page.Title, page.Facts = formatTitle(ctx, v.api.About), documentFacts(ctx, v.api, h.Now)
		page.Tags, page.Methods, page.States = operationTags(ctx, v.api.Operations), operationMethods(ctx, v.api.Operations), operationStates(ctx)
		v.fillRows(ctx, &page)
	}
	return h.Respond.Page(w, r, status, templates.ConnectorOperations(page))
}

// fillRows sets the rows of the page, and the selection outside of it.
func (v *operationsView) fillRows(ctx context.Context, page *templates.ConnectorOperationsPage) {
	all := v.listMatching()
	parts := max(1, (len(all)+operationsPerPage-1)/operationsPerPage)
	at := min(v.filter.page, parts)
	from := (at - 1) * operationsPerPage
	rows := all[from:min(from+operationsPerPage, len(all))]
	shown := map[string]bool{}
	for _, o := range rows {
		shown[o.Key] = true
		page.Rows = append(page.Rows, v.toRow(ctx, o))
	}
	tokens := 0
	for _, o := range v.api.Operations {
		picked := v.picked[o.Key]
		if picked {
			tokens += o.Tokens
		}
		switch {
		case shown[o.Key] || picked == o.IsPicked:
		case picked:
			page.Add = append(page.Add, o.Key)
		default:
			page.Drop = append(page.Drop, o.Key)
		}
	}
	page.Count = i18n.N(ctx, len(all), "%s operation", "%s operations")
	page.SelectAll = i18n.T(ctx, "Pick all %s", i18n.Number(ctx, len(all)))
	page.Total = i18n.T(ctx, "%s of %s picked · about %s", i18n.Number(ctx, len(v.picked)), i18n.Number(ctx, len(v.api.Operations)), i18n.N(ctx, tokens, "%s token", "%s tokens"))
	if parts > 1 {
		page.Page.Text = i18n.T(ctx, "%s–%s of %s", i18n.Number(ctx, from+1), i18n.Number(ctx, from+len(rows)), i18n.Number(ctx, len(all)))
	}
	path := operationsPath(v.api.Connector.Slug)
	if at > 1 {
		page.Page.Prev, page.Page.PrevHref = strconv.Itoa(at-1), v.filter.toHref(path, at-1)
	}
	if at < parts {
		page.Page.Next, page.Page.NextHref = strconv.Itoa(at+1), v.filter.toHref(path, at+1)
	}
}

func (v *operationsView) toRow(ctx context.Context, o manage.OperationSummary) templates.OperationRow {
	row := templates.OperationRow{
		Key: o.Key, Method: o.Method, Path: o.Path, Title: o.Title, Name: o.Name, Deprecated: o.Deprecated, New: o.IsNew,
		Picked: v.picked[o.Key], Problem: i18n.TranslateKnown(ctx, o.Problem),
	}
	if o.Tokens > 0 {
		row.Tokens = i18n.Number(ctx, o.Tokens)
	}
	if o.IsPicked && v.api.Connector.ToolsLastSyncedAt != nil {
		row.Href = shell.ToolPath(v.api.Connector.Slug, o.Name)
	}
	return row
}

func operationTags(ctx context.Context, all []manage.OperationSummary) []templates.Option {
	var tags []string
	for _, o := range all {
		tags = append(tags, o.Tags...)
	}
	slices.Sort(tags)
	options := []templates.Option{{Label: i18n.T(ctx, "Any tag")}}
	for _, tag := range slices.Compact(tags) {
		options = append(options, templates.Option{Value: tag, Label: tag})
	}
	return options
}

func operationMethods(ctx context.Context, all []manage.OperationSummary) []templates.Option {
	var methods []string
	for _, o := range all {
		methods = append(methods, o.Method)
	}
	slices.Sort(methods)
	options := []templates.Option{{Label: i18n.T(ctx, "Any method")}}
	for _, m := range slices.Compact(methods) {
		options = append(options, templates.Option{Value: m, Label: m})
	}
	return options
}

func operationStates(ctx context.Context) []templates.Option {
	return []templates.Option{
		{Label: i18n.T(ctx, "All operations")},
		{Value: "picked", Label: i18n.T(ctx, "Picked")},
		{Value: "unpicked", Label: i18n.T(ctx, "Not picked")},
		{Value: "new", Label: i18n.T(ctx, "New")},
		{Value: "deprecated", Label: i18n.T(ctx, "Deprecated")},
		{Value: "problem", Label: i18n.T(ctx, "Unsupported")},
	}
}

func endpointRows(ctx context.Context, o manage.APIOverview) (rows []templates.EndpointRow) {
	for _, t := range o.Tools {
		var e openapi.Endpoint
		if t.Endpoint == nil || json.Unmarshal(t.Endpoint, &e) != nil {
			continue
		}
		row := templates.EndpointRow{Name: e.Name, Method: strings.ToUpper(e.Method), URL: e.URL, Href: endpointPath(o.Connector.Slug, e.Name)}
		if tool, err := e.Tool(); err == nil {
			row.Method, row.Tokens = tool.Binding.Method, i18n.Number(ctx, manage.MeasureAPITool(*tool))
		}
		rows = append(rows, row)
	}
	return rows
}

func endpointPath(connector, endpoint string) string {
	return shell.WithQuery(shell.ConnectorPath(connector)+"/endpoint", url.Values{"name": {endpoint}})
}
