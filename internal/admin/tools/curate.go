package tools

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"patchbay/internal/admin/shell"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/i18n"
	"patchbay/internal/respond"
	"patchbay/web/templates"
)

// toolCurate changes a tool's curation: what agents get instead of the server's text.
func (h *Handler) toolCurate(w http.ResponseWriter, r *http.Request) error {
	f, err := shell.ReadForm(r)
	if err != nil {
		return err
	}
	tool, err := h.loadTriedTool(r)
	if err != nil {
		return err
	}
	patch := curatePatch(f, tool.Tool)
	_, err = h.Registry.CurateTools(r.Context(), shell.Actor(r), shell.PathRef(r, "id"), []connectors.ToolPatch{patch})
	if wrong, ok := shell.AsFormFault(r.Context(), err); ok {
		view := f.ToForm(wrong)
		t := trial{tool: tool, asJSON: tool.form.jsonOnlyReason != "", values: tool.form.defaults(), curation: &view}
		return h.toolPage(w, r, http.StatusUnprocessableEntity, t)
	}
	if err != nil {
		return err
	}
	path := shell.ToolPath(tool.ConnectorSlug, tool.Name)
	if patch.Enabled != nil && len(f.Values) == 1 {
		return h.Respond.Back(w, r, path+"#for-agents", shell.EnabledFlash(r.Context(), tool.Name, *patch.Enabled, path+"/curate"))
	}
	return h.Respond.Back(w, r, path+"#for-agents", respond.Flash{
		Kind: respond.Notice,
		Text: i18n.T(r.Context(), "“%s” saved.", shell.ShortenText(tool.Name, shell.MaxName)),
		Undo: &respond.Undo{Action: path + "/curate", Form: url.Values{
			"alias": {tool.Alias}, "agent_description": {tool.AgentText}, "tags": {strings.Join(tool.Tags, " ")},
			"calls_per_minute": {strconv.Itoa(tool.Quota.PerMinute)}, "calls_per_day": {strconv.Itoa(tool.Quota.PerDay)},
		}},
	})
}

// curatePatch reads the form. A missing field keeps its value: the control that enables sends its own alone.
func curatePatch(f shell.PostedForm, before connectors.Tool) connectors.ToolPatch {
	patch := connectors.ToolPatch{
		Tool: before.Name, CallsPerMinute: new(f.Number("calls_per_minute", before.Quota.PerMinute)), CallsPerDay: new(f.Number("calls_per_day", before.Quota.PerDay)),
	}
	if f.Values.Has("enabled") {
		patch.Enabled = new(f.Checked("enabled"))
	}
	for name, to := range map[string]**string{"alias": &patch.Alias, "agent_description": &patch.AgentText} {
		if f.Values.Has(name) {
			*to = new(f.Text(name))
		}
	}
	if f.Values.Has("tags") {
		patch.Tags = new(parseTags(f.Text("tags")))
	}
	return patch
}

// curationText is an admin's text that replaces the server's; empty if there is none. Changes of the server's
// text are still reviewed.
func (h *Handler) curationText(r *http.Request, c connectors.Connector, name string) (string, error) {
	tool, err := h.TenantStore(r).Tools().Get(r.Context(), c.ID, name)
	if fault.Is(err, fault.NotFound) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	switch renamed := tool.AgentName() != tool.Name; {
	case tool.AgentText != "" && renamed:
		return i18n.T(r.Context(), "Agents see %s with an admin's description. The server's is shown here.", tool.AgentName()), nil
	case tool.AgentText != "":
		return i18n.T(r.Context(), "Agents read an admin's description. The server's is shown here."), nil
	case renamed:
		return i18n.T(r.Context(), "Agents see it as %s. This is the server's version.", tool.AgentName()), nil
	}
	return "", nil
}

func parseTags(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' || r == '\t' || r == '\n' || r == '\r' })
}

// curateForm is the form of a tool's curation. typed is a refused form; nil if there is none.
func curateForm(ctx context.Context, t connectors.Tool, typed *templates.Form, can templates.Permissions) templates.Curate {
	tags := strings.Join(t.Tags, " ")
	c := templates.Curate{
		Action: shell.ToolPath(t.ConnectorSlug, t.Name) + "/curate", Name: shell.ShortenText(t.Name, shell.MaxName), Can: can.Manage,
		Exposed: connectors.ExposedName(t.ConnectorSlug, t.AgentName()),
	}
	values := map[string]string{
		"alias": t.Alias, "agent_description": t.AgentText, "tags": tags,
		"calls_per_minute": strconv.Itoa(t.Quota.PerMinute), "calls_per_day": strconv.Itoa(t.Quota.PerDay),
	}
	c.Enabled = t.Enabled
	if c.Form = (templates.Form{Values: values}); typed != nil {
		c.Form = *typed
	}
	state := i18n.T(ctx, "yes")
	if !t.Enabled {
		state = i18n.T(ctx, "no, disabled by an admin")
	}
	for _, f := range []templates.Fact{
		{Label: i18n.T(ctx, "Available to agents"), Value: state},
		{Label: i18n.T(ctx, "Name"), Value: t.Alias, Mono: true},
		{Label: i18n.T(ctx, "Tags"), Value: tags},
		{Label: i18n.T(ctx, "Limit"), Value: shell.QuotaText(ctx, t.Quota)},
	} {
		if f.Value != "" {
			c.Facts = append(c.Facts, f)
		}
	}
	return c
}
