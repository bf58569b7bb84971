package connectors

import (
	"context"
	"encoding/json"
	"net/http"

	callpages "patchbay/internal/admin/calls"
	"patchbay/internal/admin/shell"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/i18n"
	"patchbay/internal/respond"
	"patchbay/internal/toolcall"
	"patchbay/web/templates"
)

// methodSend sends a request outside MCP, and shows its result or error with the form.
func (h *Handler) methodSend(w http.ResponseWriter, r *http.Request) error {
	f, err := shell.ReadForm(r)
	if err != nil {
		return err
	}
	c, err := h.TenantStore(r).Connectors().Get(r.Context(), shell.PathRef(r, "id"))
	if err != nil {
		return err
	}
	m := toolcall.MethodRequest{Method: f.Text("method"), Agent: connectors.Ref(f.Text("agent")), Source: connectors.SourceDashboard}
	if m.Params, err = readParams(f); err != nil {
		return h.methodPage(w, r, c, f, methodOutcome{err: err})
	}
	shell.ClearWriteDeadline(w)
	out := methodOutcome{}
	out.raw, out.call, out.err = h.Calls.SendMethod(r.Context(), shell.Actor(r), c, m)
	return h.methodPage(w, r, c, f, out)
}

// readParams reads the optional parameters.
func readParams(f shell.PostedForm) (json.RawMessage, error) {
	typed := f.Text("params")
	if typed == "" {
		return nil, nil
	}
	var object map[string]json.RawMessage
	if json.Unmarshal([]byte(typed), &object) != nil || object == nil {
		return nil, fault.InvalidFields(fault.Field{Location: "params", Message: "Enter a JSON object."})
	}
	return json.RawMessage(typed), nil
}

// methodOutcome is what came of a request. The call's id is zero if nothing was sent.
type methodOutcome struct {
	raw  json.RawMessage
	call connectors.ToolCall
	err  error
}

func (h *Handler) methodPage(w http.ResponseWriter, r *http.Request, c connectors.Connector, f shell.PostedForm, out methodOutcome) error {
	page := templates.ConnectorMethodPage{
		Frame: h.ConnectorFrame(r, c, i18n.T(r.Context(), "Non-MCP methods")), Head: ConnectorHead(r.Context(), c, templates.TabOverview, h.ConnectorMark(c)),
		Form: newMethodForm(c), Result: methodResult(r.Context(), out),
	}
	page.Form.Form = f.ToForm(nil)
	if page.Result != nil {
		page.Said = respond.NewQuote(r.Context(), out.call.Upstream)
		return h.Respond.Page(w, r, http.StatusOK, templates.ConnectorMethod(page))
	}
	problem := respond.LocalizedFault(r.Context(), out.err)
	switch _, isFormFault := shell.AsFormFault(r.Context(), out.err); {
	case isFormFault:
		page.Form.Form = f.ToForm(problem)
	case problem.Kind == fault.NotFound: // the agent
		problem.Kind, page.Form.Form.Errors["agent"] = fault.Invalid, problem.Message
	default:
		return out.err
	}
	return h.Respond.Page(w, r, respond.Status(problem.Kind), templates.ConnectorMethod(page))
}

func newMethodForm(c connectors.Connector) templates.MethodForm {
	return templates.MethodForm{
		Action: shell.ConnectorPath(c.Slug) + "/methods", Allowed: c.Methods,
		PerAgent: c.CredentialMode == connectors.CredentialPerAgent && c.Auth.Type != connectors.AuthNone,
	}
}

// methodResult shows a result or the server's error; nil if nothing was sent.
func methodResult(ctx context.Context, out methodOutcome) *templates.Result {
	if out.call.ID == (connectors.ToolCallID{}) {
		return nil
	}
	v := &templates.Result{
		Facts: shell.FormatDuration(ctx, out.call.Duration) + " · " + shell.FormatBytes(ctx, out.call.ResponseBytes),
		Link:  &templates.Link{Text: i18n.T(ctx, "Open call"), Href: shell.CallPath(out.call.ID)},
	}
	switch {
	case out.err != nil:
		v.Problem = callpages.FailureAttention(ctx, out.call)
	case len(out.raw) == 0:
		v.State, v.Note = templates.State{Kind: templates.StateOK, Text: i18n.T(ctx, "Done")}, i18n.T(ctx, "A notification has no result.")
	default:
		v.State = templates.State{Kind: templates.StateOK, Text: i18n.T(ctx, "Done")}
		v.Blocks = []templates.ResultBlock{{Kind: templates.BlockJSON, Text: shell.IndentJSON(ctx, out.raw, shell.MaxPageJSON)}}
	}
	return v
}
