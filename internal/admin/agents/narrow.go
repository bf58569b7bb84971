package agents

import (
	"net/http"
	"slices"
	"strings"

	"patchbay/internal/admin/shell"
	"patchbay/internal/connectors"
	"patchbay/internal/i18n"
	"patchbay/internal/respond"
)

// agentNarrow removes tools chosen in the review of unused ones from an agent's grants.
func (h *Handler) agentNarrow(w http.ResponseWriter, r *http.Request) error {
	f, err := shell.ReadForm(r)
	if err != nil {
		return err
	}
	a, err := h.TenantStore(r).Agents().Get(r.Context(), shell.PathRef(r, "id"))
	if err != nil {
		return err
	}
	returnTo := shell.AgentPath(a.Slug)
	removals := toolsByConnector(f)
	if len(removals) == 0 {
		return h.Respond.Back(w, r, returnTo+"/unused", respond.Flash{Kind: respond.Alert, Text: i18n.T(r.Context(), "No tool selected.")})
	}
	tools := 0
	for _, c := range removals {
		if _, err := h.Registry.NarrowGrant(r.Context(), shell.Actor(r), shell.PathRef(r, "id"), c.connector, c.tools); err != nil {
			return err
		}
		tools += len(c.tools)
	}
	return h.Respond.Back(w, r, returnTo+"/tools", respond.Flash{
		Kind: respond.Notice, Text: i18n.T(r.Context(), "Removed %s of %s.", i18n.N(r.Context(), tools, "%s tool", "%s tools"), i18n.N(r.Context(), len(removals), "%s connector", "%s connectors")),
	})
}

// toolRemoval names tools of one connector.
type toolRemoval struct {
	connector connectors.Ref
	tools     []string
}

// toolsByConnector reads the form's tools, each written as "connector-slug/tool-name".
func toolsByConnector(f shell.PostedForm) []toolRemoval {
	var all []toolRemoval
	for _, value := range f.Values["tool"] {
		slug, tool, ok := strings.Cut(value, "/")
		if !ok {
			continue
		}
		index := slices.IndexFunc(all, func(t toolRemoval) bool { return string(t.connector) == slug })
		if index < 0 {
			index, all = len(all), append(all, toolRemoval{connector: connectors.Ref(slug)})
		}
		all[index].tools = append(all[index].tools, tool)
	}
	return all
}
