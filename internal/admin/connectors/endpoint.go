package connectors

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	callpages "patchbay/internal/admin/calls"
	"patchbay/internal/admin/shell"
	toolpages "patchbay/internal/admin/tools"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/i18n"
	"patchbay/internal/manage"
	"patchbay/internal/openapi"
	"patchbay/internal/openapi/curl"
	"patchbay/internal/respond"
	"patchbay/internal/toolcall"
	"patchbay/web/templates"
)

// endpointShow shows the form of an endpoint: that of the query's name, or a new one.
func (h *Handler) endpointShow(w http.ResponseWriter, r *http.Request) error {
	o, err := h.Registry.ReadAPI(r.Context(), shell.Actor(r).Tenant.ID, shell.PathRef(r, "id"))
	if err != nil {
		return err
	}
	v := endpointView{api: o, form: templates.Form{Values: map[string]string{"method": http.MethodGet}}}
	if name := r.URL.Query().Get("name"); name != "" {
		e, ok := findEndpoint(o, name)
		if !ok {
			return fault.Errorf(fault.NotFound, "No such endpoint.")
		}
		v.form.Values, v.before = endpointValues(e), name
		v.describeTool(r.Context())
	}
	return h.endpointPage(w, r, http.StatusOK, v)
}

// endpointPost fills the form from a curl command, tests the endpoint, saves or deletes it.
func (h *Handler) endpointPost(w http.ResponseWriter, r *http.Request) error {
	o, err := h.Registry.ReadAPI(r.Context(), shell.Actor(r).Tenant.ID, shell.PathRef(r, "id"))
	if err != nil {
		return err
	}
	f, err := shell.ReadForm(r)
	if err != nil {
		return err
	}
	v := endpointView{api: o, form: f.ToForm(nil), before: f.Values.Get("before")}
	switch do := f.Text("do"); do {
	case "fill":
		v.fillFromCurl(r.Context(), f.Text("curl"))
		return h.endpointPage(w, r, v.toStatus(), v)
	case "test":
		return h.endpointTest(w, r, v)
	case "delete": // the form's page has asked
		err = h.Registry.RemoveEndpoint(r.Context(), shell.Actor(r), toRef(o.Connector), v.before)
	default:
		var e openapi.Endpoint
		if e, err = v.readEndpoint(r.Context()); err == nil {
			err = h.Registry.SaveEndpoint(r.Context(), shell.Actor(r), toRef(o.Connector), v.before, e)
		}
	}
	if v.addProblem(r.Context(), err) {
		return h.endpointPage(w, r, v.toStatus(), v)
	}
	if err != nil {
		return err
	}
	return h.afterPicks(w, r, o.Connector, true)
}

func toRef(c connectors.Connector) connectors.Ref { return connectors.Ref(c.ID.String()) }

// endpointTest sends the request of an endpoint that may not be stored, and shows the answer.
func (h *Handler) endpointTest(w http.ResponseWriter, r *http.Request, v endpointView) error {
	e, err := v.readEndpoint(r.Context())
	arguments := json.RawMessage(v.form.Value("arguments"))
	if len(arguments) == 0 {
		arguments = json.RawMessage("{}")
	}
	if err == nil && !isJSONObject(arguments) {
		err = fault.InvalidFields(fault.Field{Location: "arguments", Message: "Enter a JSON object."})
	}
	var tool *openapi.Tool
	if err == nil {
		tool, err = e.Tool()
	}
	if v.addProblem(r.Context(), err) {
		return h.endpointPage(w, r, v.toStatus(), v)
	}
	if err != nil {
		return err
	}
	v.describeTool(r.Context())
	shell.ClearWriteDeadline(w)
	raw, call, err := h.Calls.TryAPITool(r.Context(), shell.Actor(r), v.api.Connector, toolcall.APITrial{
		Tool: e.Name, Binding: tool.Binding.JSON(), Arguments: arguments, Source: connectors.SourceDashboard, Agent: connectors.Ref(v.form.Value("agent")),
	})
	if call.ID == (connectors.ToolCallID{}) {
		if !v.addProblem(r.Context(), err) {
			return err
		}
		return h.endpointPage(w, r, v.toStatus(), v)
	}
	v.result, v.said = endpointAnswer(r.Context(), methodOutcome{raw: raw, call: call, err: err}), respond.NewQuote(r.Context(), call.Upstream)
	return h.endpointPage(w, r, http.StatusOK, v)
}

// endpointAnswer shows the answer as Try it shows that of a tool.
func endpointAnswer(ctx context.Context, out methodOutcome) *templates.Result {
	var result callpages.ToolResult
	if out.err != nil || json.Unmarshal(out.raw, &result) != nil {
		return methodResult(ctx, out)
	}
	view, shown := methodResult(ctx, out), callpages.ResultView(ctx, result, nil)
	shown.Facts, shown.Link = view.Facts, view.Link
	return &shown
}

func isJSONObject(text json.RawMessage) bool {
	var object map[string]json.RawMessage
	return json.Unmarshal(text, &object) == nil && object != nil
}

// endpointView is the page of an endpoint's form.
type endpointView struct {
	api    manage.APIOverview
	form   templates.Form
	before string // name of the stored endpoint
	notes  []string
	params []templates.Param
	tokens string
	result *templates.Result
	said   templates.Quote
	kind   fault.Kind
	failed bool
}

func (v *endpointView) toStatus() int {
	if v.failed {
		return respond.Status(v.kind)
	}
	return http.StatusOK
}

// addProblem shows a fault that the person can correct, and reports whether it is one.
func (v *endpointView) addProblem(ctx context.Context, err error) bool {
	problem, ok := shell.AsFormFault(ctx, err)
	if !ok {
		return false
	}
	v.failed, v.kind, v.form.Problem, v.form.Errors = true, problem.Kind, "", map[string]string{}
	for _, field := range problem.Fields {
		v.form.Errors[field.Location] = field.Message
	}
	if len(problem.Fields) == 0 {
		v.form.Problem = problem.Message
	}
	return true
}

// describeTool sets what is said of a valid endpoint.
func (v *endpointView) describeTool(ctx context.Context) {
	e, err := v.readEndpoint(ctx)
	if err != nil {
		return
	}
	tool, err := e.Tool()
	if err != nil {
		return
	}
	v.params = toolpages.DefinitionView(ctx, connectors.Definition{Name: e.Name, Raw: tool.Definition}, toolpages.ListDetail).Params
	v.tokens = i18n.N(ctx, manage.MeasureAPITool(*tool), "%s token", "%s tokens")
}

// fillFromCurl replaces the fields by those of a command.
func (v *endpointView) fillFromCurl(ctx context.Context, text string) {
	command, err := curl.Parse(text)
	if err != nil {
		v.addProblem(ctx, atField("curl", err))
		return
	}
	if v.form.Values = endpointValues(command.Endpoint); command.Credential != nil {
		v.notes = append(v.notes, i18n.T(ctx, "The command's credential was left out. Calls use the connector's own."))
	}
	v.form.Values["arguments"] = exampleArguments(command.Endpoint.Input)
	for _, note := range command.Notes {
		v.notes = append(v.notes, i18n.TranslateKnown(ctx, note))
	}
	v.describeTool(ctx)
}

func (h *Handler) endpointPage(w http.ResponseWriter, r *http.Request, status int, v endpointView) error {
	c := v.api.Connector
	frame := h.ConnectorFrame(r, c, i18n.T(r.Context(), "Endpoint"))
	frame.Listen = ""
	return h.Respond.Page(w, r, status, templates.ConnectorEndpoint(templates.ConnectorEndpointPage{
		Frame: frame, Head: ConnectorHead(r.Context(), c, templates.TabOperations, h.ConnectorMark(c)), Form: v.form, Before: v.before, Notes: v.notes,
		Params: v.params, Tokens: v.tokens, Result: v.result, Said: v.said,
	}))
}

func findEndpoint(o manage.APIOverview, name string) (e openapi.Endpoint, ok bool) {
	for _, t := range o.Tools {
		if t.Key == name && t.Endpoint != nil {
			return e, json.Unmarshal(t.Endpoint, &e) == nil
		}
	}
	return e, false
}

// endpointValues are the form's values of an endpoint.
func endpointValues(e openapi.Endpoint) map[string]string {
	var headers strings.Builder
	for _, header := range e.Headers {
		headers.WriteString(header.Name + ": " + header.Value + "\n")
	}
	values := map[string]string{
		"name": e.Name, "title": e.Title, "description": e.Description, "method": strings.ToUpper(e.Method), "url": e.URL, "headers": headers.String(),
		"media": e.Media, "body": e.Body, "files": strings.Join(e.Files, " "), "filter": e.Filter,
	}
	if len(e.Input) > 0 {
		values["input"] = indentText(e.Input)
	}
	toolpages.FillAnnotations(values, e.Annotations)
	return values
}

// exampleArguments returns arguments from the examples of a schema. Empty: it has none.
func exampleArguments(input json.RawMessage) string {
	var schema struct {
		Properties map[string]struct{ Examples []json.RawMessage }
	}
	if json.Unmarshal(input, &schema) != nil {
		return ""
	}
	arguments := map[string]json.RawMessage{}
	for name, p := range schema.Properties {
		if len(p.Examples) > 0 {
			arguments[name] = p.Examples[0]
		}
	}
	if len(arguments) == 0 {
		return ""
	}
	text, _ := json.Marshal(arguments) // what was read always marshals
	return string(text)
}

func indentText(text json.RawMessage) string {
	var v any
	if json.Unmarshal(text, &v) != nil {
		return string(text)
	}
	out, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return string(text)
	}
	return string(out)
}

// readEndpoint reads the form. What it does not have stays as it is stored.
func (v *endpointView) readEndpoint(ctx context.Context) (e openapi.Endpoint, err error) {
	f := v.form
	text := func(name string) string { return strings.TrimSpace(f.Value(name)) }
	e, _ = findEndpoint(v.api, v.before)
	e.Name, e.Title, e.Description, e.Method, e.URL = text("name"), text("title"), text("description"), text("method"), text("url")
	e.Media, e.Body, e.Files, e.Filter, e.Headers, e.Input = text("media"), f.Value("body"), strings.Fields(text("files")), text("filter"), nil, nil
	headers := map[string]string{}
	p := DraftParser{Form: shell.PostedForm{Values: url.Values{"headers": {f.Value("headers")}}}}
	p.readHeaders(ctx, &headers)
	if err := fault.InvalidFields(p.Problems...); err != nil {
		return e, err
	}
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		e.Headers = append(e.Headers, openapi.Header{Name: name, Value: headers[name]})
	}
	if input := text("input"); input != "" {
		if !isJSONObject(json.RawMessage(input)) {
			return e, fault.InvalidFields(fault.Field{Location: "input", Message: "Enter a JSON object."})
		}
		e.Input = json.RawMessage(input)
	}
	if e.Annotations, err = toolpages.ReadAnnotations(text); err != nil {
		return e, err
	}
	if err := manage.CheckFilter(e.Filter); err != nil {
		return e, err
	}
	_, err = e.Tool()
	return e, err
}
