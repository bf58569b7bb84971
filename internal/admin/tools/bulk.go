package tools

import (
	"context"
	"net/http"
	"net/url"
	"slices"

	"patchbay/internal/admin/shell"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/i18n"
	"patchbay/internal/respond"
	"patchbay/internal/store"
	"patchbay/web/templates"
)

// toolBulk changes all checked tools, or none if one fails.
func (h *Handler) toolBulk(w http.ResponseWriter, r *http.Request) error {
	f, err := shell.ReadForm(r)
	if err != nil {
		return err
	}
	c, err := h.TenantStore(r).Connectors().Get(r.Context(), shell.PathRef(r, "id"))
	if err != nil {
		return err
	}
	returnTo := respond.OwnPath(f.Text("return_to"), shell.ConnectorPath(c.Slug)+"/tools")
	do, err := bulkPatch(f.Text("do"), f.Text("word"))
	changed := 0
	if err == nil {
		patches := make([]connectors.ToolPatch, 0, len(f.Values["tool"]))
		for _, name := range f.Values["tool"] {
			patches = append(patches, do(name))
		}
		changed, err = h.Registry.CurateTools(r.Context(), shell.Actor(r), shell.PathRef(r, "id"), patches)
	}
	if wrong, ok := shell.AsFormFault(r.Context(), err); ok {
		return h.Respond.Back(w, r, returnTo, respond.Flash{Kind: respond.Alert, Text: faultText(wrong)})
	}
	if err != nil {
		return err
	}
	return h.Respond.Back(w, r, returnTo, respond.Flash{Kind: respond.Notice, Text: bulkText(r.Context(), f.Text("do"), changed), Undo: bulkUndo(f, shell.ConnectorPath(c.Slug)+"/tools", returnTo, changed)})
}

// bulkText says what was done to how many tools.
func bulkText(ctx context.Context, do string, changed int) string {
	switch do {
	case "enable":
		return i18n.N(ctx, changed, "Enabled %s tool.", "Enabled %s tools.")
	case "disable":
		return i18n.N(ctx, changed, "Disabled %s tool.", "Disabled %s tools.")
	default:
		return i18n.T(ctx, "%s updated.", i18n.N(ctx, changed, "%s tool", "%s tools"))
	}
}

// bulkOpposites are the actions that undo each other.
var bulkOpposites = map[string]string{"enable": "disable", "disable": "enable", "tag": "untag", "untag": "tag"}

// bulkUndo is the opposite action. It is nil if there is none, or if some tools were so before.
func bulkUndo(f shell.PostedForm, action, returnTo string, changed int) *respond.Undo {
	opposite, ok := bulkOpposites[f.Text("do")]
	if !ok || changed != len(f.Values["tool"]) || len(parseTags(f.Text("word"))) > 1 {
		return nil
	}
	return &respond.Undo{Action: action, Form: url.Values{"do": {opposite}, "word": {f.Text("word")}, "tool": f.Values["tool"], "return_to": {returnTo}}}
}

// faultText is a fault's message and field errors in one line.
func faultText(f *fault.Error) string {
	if len(f.Fields) > 0 {
		return f.Fields[0].Message
	}
	return f.Message
}

// bulkPatch is the change that a button of the bar makes.
func bulkPatch(do, word string) (func(tool string) connectors.ToolPatch, error) {
	if word == "" && (do == "tag" || do == "untag" || do == "prefix") {
		return nil, fault.Errorf(fault.Invalid, "Enter a tag or prefix.")
	}
	patch := connectors.ToolPatch{}
	switch do {
	case "enable", "disable":
		patch.Enabled = new(do == "enable")
	case "tag":
		patch.AddTags = parseTags(word)
	case "untag":
		patch.RemoveTags = parseTags(word)
	case "reset":
		patch.Alias, patch.AgentText = new(""), new("")
	case "prefix":
	default:
		return nil, fault.Errorf(fault.Invalid, "Choose an action.")
	}
	return func(tool string) connectors.ToolPatch {
		patch.Tool = tool
		if do == "prefix" {
			patch.Alias = new(word + tool)
		}
		return patch
	}, nil
}

// NewToolBulk is the bar below a list of tools; nil without the permission.
func NewToolBulk(r *http.Request, c connectors.Connector, can templates.Permissions) *templates.ToolBulk {
	if !can.Manage {
		return nil
	}
	query := r.URL.Query()
	b := &templates.ToolBulk{Action: shell.ConnectorPath(c.Slug) + "/tools", All: query.Get("choose") == "all"}
	query.Del("choose")
	b.ReturnTo = shell.WithQuery(r.URL.Path, query)
	if b.AllHref = b.ReturnTo; !b.All {
		query.Set("choose", "all")
		b.AllHref = shell.WithQuery(r.URL.Path, query)
	}
	return b
}

// ToolQuery reads the filter of a list of tools: of a connector, or nil for all.
func ToolQuery(r *http.Request, connector *connectors.ConnectorID) (f store.ToolFilter, form templates.Form) {
	query := r.URL.Query()
	form.Values = map[string]string{}
	for _, name := range []string{"q", "state", "annotation", "tag", "removed"} {
		form.Values[name] = query.Get(name)
	}
	hint := connectors.Hint(form.Value("annotation"))
	if !slices.Contains(connectors.ToolHints, hint) {
		hint = ""
	}
	return store.ToolFilter{
		Connector: connector, Query: form.Value("q"), Removed: form.Is("removed", "true"), Tag: form.Value("tag"),
		State: connectors.ToolStateFilter(form.Value("state")), Hint: hint, Page: shell.ReadPage(r),
	}, form
}
