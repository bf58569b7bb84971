package admin

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"patchbay/internal/access"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/middleware"
	"patchbay/internal/respond"
	"patchbay/internal/toolcall"
	"patchbay/internal/words"
	"patchbay/web/templates"
)

// tryPatience is how long a page waits for a call. One that takes longer goes on, and has a page of its own.
const tryPatience = 60 * time.Second

const (
	// maxArguments is what an agent could send at most, in bytes.
	maxArguments = middleware.MaxBody
	// maxTried is how much of a form is read, in bytes: a browser writes three letters for one that is none of the alphabet. What is too large
	// by less than that stands in the form again, with what is wrong.
	maxTried = 4 * maxArguments
)

// trial is a tool that a person tries, as an agent.
type trial struct {
	tool   tried
	agent  string // the slug
	asJSON bool
	typed  string     // the arguments, as JSON
	values url.Values // the fields
	wrong  map[string]words.Key
	form   templates.Form // what is wrong with the whole
	result *templates.Result
	said   *templates.Form // what was typed for agents, and is not right; nil: nothing was
}

// toolTry runs a tool as an agent, with the arguments of the form, or changes the way in which the form asks.
func (h *Handler) toolTry(w http.ResponseWriter, r *http.Request) error {
	middleware.RaiseLimit(w, r, maxTried)
	f, err := readForm(r)
	if err != nil {
		return err
	}
	tool, err := h.tried(r)
	if err != nil {
		return err
	}
	t := trial{tool: tool, agent: f.text("agent"), asJSON: f.text("as") == "json", typed: f.values.Get("json"), values: f.values}
	if f.text("definition") != tool.Hash.String() && !t.asJSON {
		t.values = tool.form.defaults()
		t.form.Problem = words.T(r.Context(), "The tool has changed meanwhile. Fill in its form again.")
		return h.triedPage(w, r, http.StatusConflict, t)
	}
	arguments, ok := t.arguments(r.Context())
	switch do := f.text("do"); {
	case do != "" && json.Valid(arguments): // what is wrong in another way may be mended there
		t.turn(r.Context(), do, arguments)
		return h.triedPage(w, r, http.StatusOK, t)
	case !ok:
		return h.triedPage(w, r, http.StatusUnprocessableEntity, t)
	case len(arguments) > maxArguments:
		t.form.Problem = words.T(r.Context(), "These arguments are larger than %s MiB, which is more than an agent can send. Nothing was sent: shorten them.", strconv.Itoa(maxArguments>>20))
		return h.triedPage(w, r, http.StatusRequestEntityTooLarge, t)
	}
	waitLong(w)
	status, err := h.run(w, r, &t, arguments)
	if err != nil {
		return err
	}
	return h.triedPage(w, r, status, t)
}

// arguments are what was typed. Where something is wrong with it, the trial says what.
func (t *trial) arguments(ctx context.Context) (json.RawMessage, bool) {
	if !t.asJSON {
		object, wrong := t.tool.form.arguments(t.values)
		t.wrong = wrong
		return object, len(wrong) == 0
	}
	typed := json.RawMessage(cmp.Or(t.typed, "{}"))
	var object map[string]json.RawMessage
	if json.Unmarshal(typed, &object) != nil || object == nil {
		t.form.Errors = map[string]string{"json": words.T(ctx, "This is not one JSON object.")}
		return nil, false
	}
	return typed, true
}

// turn asks the other way, with what was typed so far.
func (t *trial) turn(ctx context.Context, to string, arguments json.RawMessage) {
	t.wrong, t.form.Errors = nil, nil
	if to == "json" {
		t.asJSON, t.typed = true, indented(arguments)
		return
	}
	values, whole := t.tool.form.fill(arguments)
	if !whole {
		t.form.Problem = words.T(ctx, "These arguments do not fit into the form.")
		return
	}
	t.asJSON, t.values = false, values
}

// run makes the call, and keeps what came of it in the trial.
func (h *Handler) run(w http.ResponseWriter, r *http.Request, t *trial, arguments json.RawMessage) (status int, err error) {
	view, err := h.access.Fresh(r.Context(), actor(r).Tenant.ID, connectors.Ref(t.agent))
	if fault.Is(err, fault.NotFound) {
		t.form.Errors = map[string]string{"agent": words.T(r.Context(), "There is no such agent.")}
		return http.StatusUnprocessableEntity, nil
	}
	if err != nil {
		return 0, err
	}
	if err := actor(r).RequireUse(r.Context(), h.tenant(r), view.Agent.ID); err != nil {
		if denied := respond.Told(r.Context(), err); denied.Kind == fault.Denied {
			t.form.Errors = map[string]string{"agent": denied.Message}
			return http.StatusForbidden, nil
		}
		return 0, err
	}
	tool := toolOfView(view, t.tool.connector.Slug, t.tool.Name)
	if tool == nil {
		t.form.Errors = map[string]string{"agent": words.T(r.Context(), "This agent was not granted the tool.")}
		return http.StatusUnprocessableEntity, nil
	}
	call, err := h.calls.Run(r.Context(), toolcall.Order{
		View: view, Tool: tool, Arguments: arguments, Source: connectors.SourceDashboard, Caller: actor(r).Name, From: actor(r).CallOrigin(),
	}, tryPatience)
	if bad, ok := errors.AsType[*toolcall.BadArguments](err); ok {
		t.form.Problem = words.Said(r.Context(), bad.Sentence)
		return http.StatusUnprocessableEntity, nil
	}
	if f := fault.As(err); f != nil && call.ID != (connectors.ToolCallID{}) { // a quota refused it; it is on record
		respond.SetRetryAfter(w.Header(), f)
		t.result = triedResult(r.Context(), call, tool, actor(r).Tenant)
		return respond.Status(f.Kind), nil
	}
	if problem, ok := mendable(r.Context(), err); ok {
		t.form.Problem = problem.Message
		return respond.Status(problem.Kind), nil
	}
	if err != nil {
		return 0, err
	}
	t.result = triedResult(r.Context(), call, tool, actor(r).Tenant)
	return http.StatusOK, nil
}

// toolOfView is a connector's tool as an agent sees it; nil: it does not.
func toolOfView(v *access.View, connector, name string) *access.Tool {
	reach := v.Reach(connector)
	if reach == nil {
		return nil
	}
	return reach.Tool(name)
}
