package admin

import (
	"net/http"
	"slices"
	"strings"

	"patchbay/internal/connectors"
	"patchbay/internal/respond"
	"patchbay/internal/words"
)

// agentNarrow takes the tools from an agent that a person chose in the review of unused ones.
func (h *Handler) agentNarrow(w http.ResponseWriter, r *http.Request) error {
	f, err := readForm(r)
	if err != nil {
		return err
	}
	a, err := h.tenant(r).Agent(r.Context(), ref(r, "id"))
	if err != nil {
		return err
	}
	back := agentPath(a.Slug)
	taken := f.toolsByConnector()
	if len(taken) == 0 {
		return h.respond.Back(w, r, back+"/unused", respond.Flash{Kind: respond.Alert, Text: words.T(r.Context(), "No tool is chosen.")})
	}
	tools := 0
	for _, c := range taken {
		if _, err := h.registry.NarrowGrant(r.Context(), actor(r), ref(r, "id"), c.connector, c.tools); err != nil {
			return err
		}
		tools += len(c.tools)
	}
	return h.respond.Back(w, r, back+"/tools", respond.Flash{
		Kind: respond.Notice, Text: words.T(r.Context(), "Taken away: %s of %s.", words.N(r.Context(), tools, "%s tool", "%s tools"), words.N(r.Context(), len(taken), "%s connector", "%s connectors")),
	})
}

// takenTools are tools of one connector.
type takenTools struct {
	connector connectors.Ref
	tools     []string
}

// toolsByConnector reads the form's tools, each named as its connector's slug, a slash, and its own name.
func (f form) toolsByConnector() []takenTools {
	var all []takenTools
	for _, value := range f.values["tool"] {
		slug, tool, whole := strings.Cut(value, "/")
		if !whole {
			continue
		}
		at := slices.IndexFunc(all, func(t takenTools) bool { return string(t.connector) == slug })
		if at < 0 {
			at, all = len(all), append(all, takenTools{connector: connectors.Ref(slug)})
		}
		all[at].tools = append(all[at].tools, tool)
	}
	return all
}
