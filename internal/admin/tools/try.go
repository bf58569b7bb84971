package tools

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"patchbay/internal/admin/shell"
	"patchbay/internal/agentview"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/i18n"
	"patchbay/internal/middleware"
	"patchbay/internal/respond"
	"patchbay/internal/toolcall"
	"patchbay/web/templates"
)

// tryTimeout is how long the page waits for a call. A longer one goes on, on its own page.
const tryTimeout = 60 * time.Second

const (
	// maxArguments is an agent's limit too, in bytes.
	maxArguments = middleware.MaxBody
	// maxTryForm bounds the form, in bytes: URL encoding writes three bytes for one. Too large arguments below
	// this bound are shown again with an error.
	maxTryForm = 4 * maxArguments
)

// trial is one try of a tool by a person, as an agent or as themselves.
type trial struct {
	tool     testedTool
	agent    string // slug, or the value of a trial as oneself
	asJSON   bool
	typed    string     // the arguments, as JSON
	values   url.Values // the form's fields
	timeout  string     // in milliseconds, as typed; empty: the connector's
	wrong    map[string]i18n.Key
	form     templates.Form      // errors of the whole form
	call     connectors.ToolCall // zero: none was made
	followed time.Duration       // how long a script follows the call; 0: the page waits for tryTimeout
	result   *templates.Result
	question string          // why the call needs a confirmation; empty: it does not
	curation *templates.Form // a refused curation form; nil: none
}

// toolTry calls a tool with the form's arguments, as an agent or as the person, or switches between fields and JSON.
func (h *Handler) toolTry(w http.ResponseWriter, r *http.Request) error {
	middleware.SetBodyLimit(w, r, maxTryForm)
	f, err := shell.ReadForm(r)
	if err != nil {
		return err
	}
	tool, err := h.loadTriedTool(r)
	if err != nil {
		return err
	}
	_ = f.ReadDurations("timeout_ms") // what stays custom is no number, which readTimeout says
	t := trial{tool: tool, agent: f.Text("agent"), asJSON: f.Text("as") == "json", typed: f.Values.Get("json"), values: f.Values, timeout: f.Text("timeout_ms")}
	confirmed := f.Text("confirm") == tool.Hash.String()
	if f.Text("definition") != tool.Hash.String() && !t.asJSON {
		t.values = tool.form.defaults()
		t.form.Problem = i18n.T(r.Context(), "The tool changed. Fill in the form again.")
		return h.toolPage(w, r, http.StatusConflict, t)
	}
	arguments, ok := t.readArguments(r.Context())
	timeout, timeoutOK := t.readTimeout(r.Context())
	switch do := f.Text("do"); {
	case do != "" && json.Valid(arguments): // an error in one mode may be corrected in the other
		t.switchMode(r.Context(), do, arguments)
		return h.toolPage(w, r, http.StatusOK, t)
	case !ok, !timeoutOK:
		return h.toolPage(w, r, http.StatusUnprocessableEntity, t)
	case len(arguments) > maxArguments:
		t.form.Problem = i18n.T(r.Context(), "Not sent: arguments are limited to %s MiB.", strconv.Itoa(maxArguments>>20))
		return h.toolPage(w, r, http.StatusRequestEntityTooLarge, t)
	}
	shell.ClearWriteDeadline(w)
	id := toolcall.NewCallID()
	run := func(w http.ResponseWriter, r *http.Request, t *trial) (int, error) {
		return h.runTrial(w, r, t, toolcall.CallRequest{
			ID: id, Arguments: arguments, Timeout: timeout, Source: connectors.SourceDashboard, ActorName: shell.Actor(r).Name, Origin: shell.Actor(r).CallOrigin(),
			Client: toolcall.Client{Caller: shell.Actor(r).Caller()},
		})
	}
	if account, ok := ownAccount(t.agent); ok {
		run = func(w http.ResponseWriter, r *http.Request, t *trial) (int, error) {
			return h.runOwnTrial(w, r, t, toolcall.OwnCall{ID: id, Account: account, Arguments: arguments, Confirmed: confirmed, Timeout: timeout})
		}
	}
	if takesEvents(r) {
		return h.followTrial(w, r, t, id, run)
	}
	status, err := run(w, r, &t)
	if err != nil {
		return err
	}
	return h.toolPage(w, r, status, t)
}

// isWaiting reports whether the call waits for approval.
func (t *trial) isWaiting() bool { return t.call.Status == connectors.CallPendingApproval }

// readArguments reads the typed arguments. On failure it records the errors in the trial.
func (t *trial) readArguments(ctx context.Context) (json.RawMessage, bool) {
	if !t.asJSON {
		object, wrong := t.tool.form.readArguments(t.values)
		t.wrong = wrong
		return object, len(wrong) == 0
	}
	typed := json.RawMessage(cmp.Or(t.typed, "{}"))
	var object map[string]json.RawMessage
	if json.Unmarshal(typed, &object) != nil || object == nil {
		t.setError("json", i18n.T(ctx, "Enter a JSON object."))
		return nil, false
	}
	return typed, true
}

// switchMode switches between fields and JSON, keeping what was typed.
func (t *trial) switchMode(ctx context.Context, to string, arguments json.RawMessage) {
	t.wrong, t.form.Errors = nil, nil
	if to == "json" {
		t.asJSON, t.typed = true, shell.IndentedJSON(arguments)
		return
	}
	values, complete := t.tool.form.fillValues(arguments)
	if !complete {
		t.form.Problem = i18n.T(ctx, "These arguments don't fit the form.")
		return
	}
	t.asJSON, t.values = false, values
}

// readTimeout reads the typed timeout; 0: the connector's. On failure it records the error in the trial.
func (t *trial) readTimeout(ctx context.Context) (timeout time.Duration, ok bool) {
	if t.timeout == "" {
		return 0, true
	}
	ms, err := strconv.Atoi(t.timeout)
	if err != nil || ms < 1 || ms > int(connectors.MaxTimeout.Milliseconds()) {
		t.setError("timeout_ms", i18n.T(ctx, "Must be %s to %s.", shell.FormatSpan(ctx, time.Millisecond), shell.FormatSpan(ctx, connectors.MaxTimeout)))
		return 0, false
	}
	return time.Duration(ms) * time.Millisecond, true
}

func (t *trial) setError(field, message string) {
	if t.form.Errors == nil {
		t.form.Errors = map[string]string{}
	}
	t.form.Errors[field] = message
}

// runTrial makes the call of request, which has no view and no tool, as an agent, and stores the result in the trial.
func (h *Handler) runTrial(w http.ResponseWriter, r *http.Request, t *trial, request toolcall.CallRequest) (status int, err error) {
	agent, account, _ := strings.Cut(t.agent, ".") // no slug has a dot
	view, err := h.Access.LoadUncached(r.Context(), shell.Actor(r).Tenant.ID, connectors.Ref(agent))
	if fault.Is(err, fault.NotFound) {
		t.form.Errors = map[string]string{"agent": i18n.T(r.Context(), "No such agent.")}
		return http.StatusUnprocessableEntity, nil
	}
	if err != nil {
		return 0, err
	}
	if err := shell.Actor(r).RequireUse(r.Context(), h.TenantStore(r).Accounts(), view.Agent.ID); err != nil {
		if denied := respond.LocalizedFault(r.Context(), err); denied.Kind == fault.Denied {
			t.form.Errors = map[string]string{"agent": denied.Message}
			return http.StatusForbidden, nil
		}
		return 0, err
	}
	connector := t.tool.connector.Slug
	if account != "" {
		connector = connectors.ViewSlug(connector, account)
	}
	tool := findTool(view, connector, t.tool.Name)
	if tool == nil {
		t.form.Errors = map[string]string{"agent": i18n.T(r.Context(), "This agent doesn't have access.")}
		return http.StatusUnprocessableEntity, nil
	}
	request.View, request.Tool = view, tool
	call, err := h.Calls.Run(r.Context(), request, cmp.Or(t.followed, tryTimeout))
	return t.finishTrial(w, r, call, tool.OutputSchema != nil, err)
}

// finishTrial stores the result of a call, or its error, in the trial.
func (t *trial) finishTrial(w http.ResponseWriter, r *http.Request, call connectors.ToolCall, hasOutputSchema bool, err error) (status int, _ error) {
	t.call = call
	if bad, ok := errors.AsType[*toolcall.InvalidArgumentsError](err); ok {
		if sentence := i18n.TranslateKnown(r.Context(), bad.Sentence); !t.setArgumentError(bad.Sentence, sentence) {
			t.form.Problem = sentence
		}
		return http.StatusUnprocessableEntity, nil
	}
	if f := fault.As(err); f != nil && call.ID != (connectors.ToolCallID{}) { // refused by a quota; the call is recorded
		respond.SetRetryAfter(w.Header(), f)
		t.result = trialResult(r.Context(), call, hasOutputSchema, shell.Actor(r).Tenant)
		return respond.Status(f.Kind), nil
	}
	if problem, ok := shell.AsFormFault(r.Context(), err); ok {
		t.form.Problem = problem.Message
		return respond.Status(problem.Kind), nil
	}
	if err != nil {
		return 0, err
	}
	t.result = trialResult(r.Context(), call, hasOutputSchema, shell.Actor(r).Tenant)
	return http.StatusOK, nil
}

// findTool finds a connector's tool in an agent's view; nil if it is not there.
func findTool(v *agentview.View, connector, name string) *agentview.Tool {
	reach := v.Connector(connector)
	if reach == nil {
		return nil
	}
	return reach.Tool(name)
}
