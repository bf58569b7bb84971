package admin

import (
	"context"
	"net/http"
	"strconv"
	"strings"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/respond"
	"patchbay/internal/words"
	"patchbay/web/templates"
)

// toolCurate changes what agents are told of one tool.
func (h *Handler) toolCurate(w http.ResponseWriter, r *http.Request) error {
	f, err := readForm(r)
	if err != nil {
		return err
	}
	tool, err := h.tried(r)
	if err != nil {
		return err
	}
	enabled, alias, text, tags := f.checked("enabled"), f.text("alias"), f.text("agent_description"), tagsIn(f.text("tags"))
	perMinute, perDay := f.number("calls_per_minute", tool.Quota.PerMinute), f.number("calls_per_day", tool.Quota.PerDay)
	patch := connectors.ToolPatch{
		Tool: tool.Name, Enabled: &enabled, Alias: &alias, AgentText: &text, Tags: &tags, CallsPerMinute: &perMinute, CallsPerDay: &perDay,
	}
	_, err = h.registry.CurateTools(r.Context(), actor(r), ref(r, "id"), []connectors.ToolPatch{patch})
	if wrong, ok := mendable(r.Context(), err); ok {
		again := f.again(wrong)
		t := trial{tool: tool, asJSON: tool.form.only != "", values: tool.form.defaults(), said: &again}
		return h.triedPage(w, r, http.StatusUnprocessableEntity, t)
	}
	if err != nil {
		return err
	}
	return h.respond.Back(w, r, toolPath(tool.ConnectorSlug, tool.Name)+"#for-agents", respond.Flash{
		Kind: respond.Notice,
		Text: words.T(r.Context(), "What agents are told of '%s' is saved.", shorten(tool.Name, maxName)),
	})
}

// saidOfTool is what an admin says of a tool in place of its server; empty: nothing. What its server changed is shown and decided all the
// same.
func (h *Handler) saidOfTool(r *http.Request, c connectors.Connector, name string) (string, error) {
	tool, err := h.tenant(r).Tool(r.Context(), c.ID, name)
	if fault.Is(err, fault.NotFound) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	switch renamed := tool.AgentName() != tool.Name; {
	case tool.AgentText != "" && renamed:
		return words.T(r.Context(), "Renamed and re-described by an admin: agents see %s, and read the admin’s description. This is what the server says.", tool.AgentName()), nil
	case tool.AgentText != "":
		return words.T(r.Context(), "Re-described by an admin: agents read the admin’s description. This is what the server says."), nil
	case renamed:
		return words.T(r.Context(), "Renamed by an admin: agents see %s. This is what the server says.", tool.AgentName()), nil
	}
	return "", nil
}

func tagsIn(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' || r == '\t' || r == '\n' || r == '\r' })
}

// curateForm is the form of what agents are told of a tool; typed is what a person typed and is not right, nil: nothing.
func curateForm(ctx context.Context, t connectors.Tool, typed *templates.Form, can templates.Can) templates.Curate {
	tags := strings.Join(t.Tags, " ")
	c := templates.Curate{
		Action: toolPath(t.ConnectorSlug, t.Name) + "/curate", Name: shorten(t.Name, maxName), Can: can.Manage,
		Exposed: connectors.ExposedName(t.ConnectorSlug, t.AgentName()),
	}
	values := map[string]string{
		"alias": t.Alias, "agent_description": t.AgentText, "tags": tags,
		"calls_per_minute": strconv.Itoa(t.Quota.PerMinute), "calls_per_day": strconv.Itoa(t.Quota.PerDay),
	}
	if t.Enabled {
		values["enabled"] = "true"
	}
	if c.Form = (templates.Form{Values: values}); typed != nil {
		c.Form = *typed
	}
	state := words.T(ctx, "yes")
	if !t.Enabled {
		state = words.T(ctx, "no, an admin switched it off")
	}
	for _, f := range []templates.Fact{
		{Label: words.T(ctx, "Agents may use it"), Value: state},
		{Label: words.T(ctx, "Name"), Value: t.Alias, Mono: true},
		{Label: words.T(ctx, "Tags"), Value: tags},
		{Label: words.T(ctx, "Limit"), Value: quotaWords(ctx, t.Quota)},
	} {
		if f.Value != "" {
			c.Facts = append(c.Facts, f)
		}
	}
	return c
}
