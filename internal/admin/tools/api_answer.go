package tools

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"strconv"

	callpages "patchbay/internal/admin/calls"
	"patchbay/internal/admin/shell"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/i18n"
	"patchbay/internal/manage"
	"patchbay/internal/openapi"
	"patchbay/internal/openapi/httpcall"
	"patchbay/internal/respond"
	"patchbay/internal/store"
	"patchbay/internal/toolchange"
	"patchbay/internal/toolsync"
	"patchbay/web/templates"
)

// apiAnswer says how the answer of an HTTP API becomes the result of a tool.
type apiAnswer struct {
	request     string // method and URL
	key         string // of the operation or endpoint
	filter      string
	maxPages    int
	annotations map[string]bool // that a person set
	hasPages    bool
	form        *templates.Form // as it was typed; nil: as it is stored
	tested      *templates.Result
}

// readAnswer returns nil for a tool of an MCP server.
func (h *Handler) readAnswer(r *http.Request, c connectors.Connector, t connectors.Tool) (*apiAnswer, error) {
	binding := readBinding(t.Raw)
	if c.Transport != connectors.TransportAPI || binding == nil {
		return nil, nil //nolint:nilnil // that is the answer
	}
	o, err := h.Registry.ReadAPI(r.Context(), shell.Actor(r).Tenant.ID, connectors.Ref(c.ID.String()))
	if err != nil {
		return nil, err
	}
	a := &apiAnswer{request: binding.Method + " " + binding.Server + binding.Path, key: t.Name, filter: binding.Filter}
	for _, op := range o.Operations {
		if op.IsPicked && op.Name == t.Name {
			a.key, a.hasPages = op.Key, op.HasPages
		}
	}
	for _, stored := range o.Tools {
		if stored.Key == a.key && stored.Endpoint == nil {
			a.filter, a.maxPages, a.annotations = stored.Filter, stored.MaxPages, stored.Annotations
		}
		var e openapi.Endpoint
		if stored.Key == a.key && stored.Endpoint != nil && json.Unmarshal(stored.Endpoint, &e) == nil {
			a.annotations = e.Annotations
		}
	}
	return a, nil
}

// readBinding returns the HTTP request of a stored definition; nil: it has none.
func readBinding(raw []byte) *openapi.Binding {
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &members) != nil || members[toolchange.BindingMember] == nil {
		return nil
	}
	binding, err := openapi.ReadBinding(members[toolchange.BindingMember])
	if err != nil {
		return nil
	}
	return binding
}

// toolAnswer saves how the answer becomes the result, or the annotations, or shows what a filter makes of the last answer.
func (h *Handler) toolAnswer(w http.ResponseWriter, r *http.Request) error {
	tool, err := h.loadTriedTool(r)
	if err != nil {
		return err
	}
	f, err := shell.ReadForm(r)
	if err != nil {
		return err
	}
	if tool.answer == nil {
		return fault.Errorf(fault.Invalid, "%s is an MCP server. Response filters are for HTTP APIs only.", tool.connector.Name)
	}
	filter, pages := f.Text("filter"), f.Number("max_pages", tool.answer.maxPages)
	ref, anchor := connectors.Ref(tool.connector.ID.String()), "#answer"
	switch f.Text("do") {
	case "test":
		tool.answer.tested, err = h.testFilter(r, tool, filter)
	case "annotate":
		anchor = "#annotations"
		var annotations map[string]bool
		if annotations, err = ReadAnnotations(f.Text); err == nil {
			err = h.Registry.SaveAnnotations(r.Context(), shell.Actor(r), ref, tool.answer.key, annotations)
		}
	default:
		err = h.Registry.SaveAnswer(r.Context(), shell.Actor(r), ref, tool.answer.key, filter, pages)
	}
	problem, ok := shell.AsFormFault(r.Context(), err)
	if err != nil && !ok {
		return err
	}
	if ok || tool.answer.tested != nil {
		form, status := f.ToForm(problem), http.StatusOK
		if tool.answer.form = &form; ok {
			status = respond.Status(problem.Kind)
		}
		return h.toolPage(w, r, status, trial{tool: tool, asJSON: tool.form.jsonOnlyReason != "", values: tool.form.defaults()})
	}
	if err := h.queueSync(r, tool.connector); err != nil {
		return err
	}
	return h.Respond.Back(w, r, shell.ToolPath(tool.ConnectorSlug, tool.Name)+anchor, respond.Flash{Kind: respond.Notice, Text: i18n.T(r.Context(), "Saved. Syncing the tools.")})
}

// queueSync queues a sync of a connector, unless one is under way or it is disabled.
func (h *Handler) queueSync(r *http.Request, c connectors.Connector) error {
	if !c.Enabled {
		return nil
	}
	_, err := h.Syncer.Queue(r.Context(), shell.Actor(r).Tenant.ID, toolsync.Request{
		Connector: connectors.Ref(c.ID.String()), Trigger: connectors.TriggerManual, AuditEvent: new(shell.Actor(r).Event("connector.sync", "")),
	})
	if fault.Is(err, fault.Conflict) {
		return nil
	}
	return err
}

// testFilter applies a filter to the answer of the tool's last call.
func (h *Handler) testFilter(r *http.Request, tool testedTool, filter string) (*templates.Result, error) {
	if err := manage.CheckFilter(filter); err != nil {
		return nil, err
	}
	ctx := r.Context()
	calls, err := h.TenantStore(r).Calls().List(ctx, store.CallFilter{Connector: &tool.connector.ID, Tool: tool.Name, Status: connectors.CallSuccess, Page: store.Page{Limit: 1}})
	if err != nil {
		return nil, err
	}
	if len(calls.Items) == 0 {
		return nil, fault.Errorf(fault.Invalid, "No response to test with yet. Call the tool once.")
	}
	call, err := h.Calls.ReadSummary(ctx, shell.Actor(r), calls.Items[0].ID)
	if err != nil {
		return nil, err
	}
	text := firstText(call.Content)
	if text == "" {
		return nil, fault.Errorf(fault.Invalid, "The last response wasn't stored or isn't text.")
	}
	if filter != "" {
		compiled, err := httpcall.CompileFilter(filter)
		if err != nil {
			return nil, err
		}
		out, err := compiled.Apply(ctx, []byte(text))
		if err != nil {
			return nil, fault.InvalidFields(fault.Field{Location: "filter", Message: cmp.Or(fault.As(err).Message, "The filter failed.")})
		}
		text = string(out)
	}
	result := &templates.Result{
		State:  templates.State{Kind: templates.StateOK, Text: i18n.T(ctx, "Filtered response")},
		Blocks: []templates.ResultBlock{{Kind: templates.BlockJSON, Text: shell.IndentJSON(ctx, []byte(text), shell.MaxPageJSON)}},
		Link:   &templates.Link{Text: i18n.T(ctx, "Open call"), Href: shell.CallPath(call.ID)},
	}
	if tool.answer.filter != "" {
		result.Note = i18n.T(ctx, "The saved filter had already shortened this response.")
	}
	return result, nil
}

// firstText returns the text of a result's first block; empty: it is none.
func firstText(content []byte) string {
	var blocks shell.Lenient[[]json.RawMessage]
	_ = blocks.UnmarshalJSON(content)
	if len(blocks.Value) == 0 {
		return ""
	}
	var block callpages.ContentBlock
	if json.Unmarshal(blocks.Value[0], &block) != nil || block.Type.Value != "text" {
		return ""
	}
	return block.Text.Value
}

func (t trial) toAnswerView(ctx context.Context, can templates.Permissions) *templates.APIAnswer {
	a := t.tool.answer
	view := &templates.APIAnswer{
		Action: shell.ToolPath(t.tool.connector.Slug, t.tool.Name) + "/answer", Can: can.Manage, HasPages: a.hasPages, Result: a.tested,
		Form: templates.Form{Values: map[string]string{"filter": a.filter, "max_pages": strconv.Itoa(max(1, a.maxPages))}},
	}
	view.Annotations.Values = map[string]string{}
	FillAnnotations(view.Annotations.Values, a.annotations)
	switch {
	case a.form == nil:
	case a.form.Is("do", "annotate"):
		view.Annotations = *a.form
	default:
		view.Form = *a.form
	}
	filter := cmp.Or(a.filter, i18n.T(ctx, "none"))
	view.Facts = []templates.Fact{{Label: i18n.T(ctx, "jq filter"), Value: filter, Mono: a.filter != ""}}
	if a.hasPages {
		view.Facts = append(view.Facts, templates.Fact{Label: i18n.T(ctx, "Pages per call"), Value: i18n.Number(ctx, max(1, a.maxPages))})
	}
	view.Facts = append(view.Facts, annotationFacts(ctx, a.annotations)...)
	return view
}
