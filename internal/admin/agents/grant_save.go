package agents

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"patchbay/internal/admin/shell"
	"patchbay/internal/connectors"
	"patchbay/internal/i18n"
	"patchbay/internal/respond"
	"patchbay/internal/store"
)

// grantSave grants an agent a connector, or changes the grant.
func (h *Handler) grantSave(w http.ResponseWriter, r *http.Request) error {
	f, err := shell.ReadForm(r)
	if err != nil {
		return err
	}
	g, err := h.loadGrant(r)
	if err != nil {
		return err
	}
	grant, err := h.readGrant(f, g)
	if problem, ok := shell.AsFormFault(r.Context(), err); ok {
		g.replaceGrant(grant)
		return h.grantPage(w, r, respond.Status(problem.Kind), g, f.ToForm(problem))
	}
	if err != nil {
		return err
	}
	if asked, err := h.askBroadGrant(w, r, f, g, grant); asked || err != nil {
		return err
	}
	_, err = h.Registry.Grant(r.Context(), shell.Actor(r), shell.PathRef(r, "id"), shell.PathRef(r, "connector"), grant)
	if problem, ok := shell.AsFormFault(r.Context(), err); ok {
		g.replaceGrant(grant)
		return h.grantPage(w, r, respond.Status(problem.Kind), g, f.ToForm(problem))
	}
	if err != nil {
		return err
	}
	return h.Respond.Back(w, r, shell.AgentPath(g.agent.Slug)+"/access", respond.Flash{
		Kind: respond.Notice,
		Text: i18n.T(r.Context(), "“%s” can use %s of “%s”.", g.agent.Name, i18n.Lower(r.Context(), grantedTools(r.Context(), grant.Normalized().At(h.Now()), -1)), g.connector.Name),
	})
}

// readGrant reads the form's grant. Tools that the form does not list keep their state.
func (h *Handler) readGrant(f shell.PostedForm, g grantState) (connectors.Grant, error) {
	grant := connectors.Grant{
		AllTools:     f.Checked("all"),
		TrustedTools: append(unlistedNames(g, g.grant.TrustedTools), f.Values["trusted"]...),
		Prompts:      connectors.PromptAccess(f.Text("prompts")),
		Resources:    connectors.ResourceAccess(f.Text("resources")),
	}
	if err := g.readAccount(f, &grant); err != nil {
		return grant, err
	}
	temporary, err := readToolEnds(f)
	if err != nil {
		return grant, err
	}
	grant.Ends = &connectors.GrantEnds{Tools: unlistedEnds(g)}
	for _, name := range f.Values["tool"] {
		if end, hasEnd := temporary[name]; hasEnd {
			grant.Ends.Tools[name] = end
		} else if !grant.AllTools {
			grant.Tools = append(grant.Tools, name)
		}
	}
	if !grant.AllTools {
		grant.Tools = append(unlistedNames(g, g.grant.Tools), grant.Tools...)
	}
	if f.Values.Has("pinned") {
		grant.PinnedTools = f.Values["pinned"]
	}
	if mode := connectors.ApprovalMode(f.Text("approval")); mode != "" {
		grant.Approval = &mode
	}
	grant.Ends.Until, err = readEnd(f, g.grant.Until(), h.Now())
	return grant, err
}

// unlistedNames are the names that the form omits because there are too many.
func unlistedNames(g grantState, names []string) []string {
	if len(g.choices) < store.MaxToolChoices {
		return nil
	}
	listed := map[string]bool{}
	for _, c := range g.choices {
		listed[c.Name] = true
	}
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return listed[name] })
}

// grantRemove revokes an agent's grant.
func (h *Handler) grantRemove(w http.ResponseWriter, r *http.Request) error {
	g, err := h.loadGrant(r)
	if err != nil {
		return err
	}
	if err := h.Registry.DropGrant(r.Context(), shell.Actor(r), shell.PathRef(r, "id"), shell.PathRef(r, "connector")); err != nil {
		return err
	}
	return h.Respond.Back(w, r, shell.AgentPath(string(shell.PathRef(r, "id")))+"/access", respond.Flash{
		Kind: respond.Notice, Text: i18n.T(r.Context(), "Access removed."),
		Undo: &respond.Undo{Action: strings.TrimSuffix(r.URL.Path, "/remove"), Form: regrantForm(g.grant)},
	})
}

// regrantForm is the form of which readGrant reads the grant.
func regrantForm(g connectors.Grant) url.Values {
	f := url.Values{
		"all": {strconv.FormatBool(g.AllTools)}, "tool": g.Tools, "trusted": g.TrustedTools,
		"prompts": {string(g.Prompts)}, "resources": {string(g.Resources)},
	}
	for name, value := range endValues(g.Until()) {
		f.Set(name, value)
	}
	for tool, end := range g.ToolEnds() {
		f.Add("tool_end", formatToolEnd(tool, end))
		f.Add("tool", tool)
	}
	if len(g.Accounts) > 0 {
		f["account"] = g.Accounts
	}
	if len(g.PinnedTools) > 0 {
		f["pinned"] = g.PinnedTools
	}
	if g.Approval != nil {
		f.Set("approval", string(*g.Approval))
	}
	return f
}
