package admin

import (
	"net/http"
	"slices"
	"strings"

	"patchbay/internal/connectors"
	"patchbay/internal/i18n"
	"patchbay/internal/respond"
)

// agentNarrow removes tools chosen in the review of unused ones from an agent's grants.
func (h *Handler) agentNarrow(w http.ResponseWriter, r *http.Request) error {
	f, err := readForm(r)
	if err != nil {
		return err
	}
	a, err := h.tenantStore(r).Agent(r.Context(), pathRef(r, "id"))
	if err != nil {
		return err
	}
	returnTo := agentPath(a.Slug)
	removals := toolsByConnector(f)
	if len(removals) == 0 {
		return h.respond.Back(w, r, returnTo+"/unused", respond.Flash{Kind: respond.Alert, Text: i18n.T(r.Context(), "No tool is chosen.")})
	}
	tools := 0
	for _, c := range removals {
		if _, err := h.registry.NarrowGrant(r.Context(), actor(r), pathRef(r, "id"), c.connector, c.tools); err != nil {
			return err
		}
		tools += len(c.tools)
	}
	return h.respond.Back(w, r, returnTo+"/tools", respond.Flash{
		Kind: respond.Notice, Text: i18n.T(r.Context(), "Taken away: %s of %s.", i18n.N(r.Context(), tools, "%s tool", "%s tools"), i18n.N(r.Context(), len(removals), "%s connector", "%s connectors")),
	})
}

// toolRemoval names tools of one connector.
type toolRemoval struct {
	connector connectors.Ref
	tools     []string
}

// toolsByConnector reads the form's tools, each written as "connector-slug/tool-name".
func toolsByConnector(f postedForm) []toolRemoval {
	var all []toolRemoval
	for _, value := range f.values["tool"] {
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
