package settings

import (
	"net/http"

	"patchbay/internal/admin/shell"
	"patchbay/internal/connectors"
	"patchbay/internal/i18n"
	"patchbay/internal/publicregistry"
	"patchbay/internal/respond"
	"patchbay/web/templates"
)

// registryNew shows the form for a new registry.
func (h *Handler) registryNew(w http.ResponseWriter, r *http.Request) error {
	return h.newRegistryPage(w, r, http.StatusOK, templates.Form{}, nil)
}

func (h *Handler) newRegistryPage(w http.ResponseWriter, r *http.Request, status int, f templates.Form, chosen []string) error {
	agents, err := h.agentChoices(r, chosen)
	if err != nil {
		return err
	}
	return h.Respond.Page(w, r, status, templates.NewRegistry(templates.NewRegistryPage{
		Frame:  h.NewFrame(r, templates.NavRegistries, shell.NewCrumb(i18n.T(r.Context(), "Registries"), "/registries"), shell.NewCrumb(i18n.T(r.Context(), "Publish registry"), "")),
		Form:   f,
		Agents: agents,
	}))
}

// registryCreate creates a registry and shows its URL on the response page alone, as a redirect would carry it
// through the session or the address.
func (h *Handler) registryCreate(w http.ResponseWriter, r *http.Request) error {
	f, err := shell.ReadForm(r)
	if err != nil {
		return err
	}
	registry, url, err := h.Registries.Create(r.Context(), shell.Actor(r), connectors.Registry{
		Name: f.Text("name"), EveryConnector: f.Text("lists") != listsAgents, Agents: f.Values["agent"], TokenRequired: f.Checked("token_required"),
	})
	if problem, ok := shell.AsFormFault(r.Context(), err); ok {
		return h.newRegistryPage(w, r, respond.Status(problem.Kind), f.ToForm(problem), f.Values["agent"])
	}
	if err != nil {
		return err
	}
	return h.registryPage(w, r, http.StatusOK, registry, registryPageState{url: url.Reveal()})
}

func (h *Handler) registrySave(w http.ResponseWriter, r *http.Request) error {
	registry, err := h.findRegistry(r)
	if err != nil {
		return err
	}
	f, err := shell.ReadForm(r)
	if err != nil {
		return err
	}
	agents := f.Values["agent"]
	_, err = h.Registries.Update(r.Context(), shell.Actor(r), registry.ID, publicregistry.Change{
		Name: new(f.Text("name")), EveryConnector: new(f.Text("lists") != listsAgents), Agents: &agents, TokenRequired: new(f.Checked("token_required")),
	})
	if problem, ok := shell.AsFormFault(r.Context(), err); ok {
		view := f.ToForm(problem)
		return h.registryPage(w, r, respond.Status(problem.Kind), registry, registryPageState{form: &view, chosen: agents})
	}
	if err != nil {
		return err
	}
	return h.Respond.Back(w, r, registryPath(registry.ID), respond.Flash{Kind: respond.Notice, Text: i18n.T(r.Context(), "Registry saved.")})
}

// registryRotate replaces the URL, and shows the new one on the response page.
func (h *Handler) registryRotate(w http.ResponseWriter, r *http.Request) error {
	registry, err := h.findRegistry(r)
	if err != nil {
		return err
	}
	registry, url, err := h.Registries.RotateAddress(r.Context(), shell.Actor(r), registry.ID)
	if err != nil {
		return err
	}
	return h.registryPage(w, r, http.StatusOK, registry, registryPageState{url: url.Reveal()})
}

func (h *Handler) registryDelete(w http.ResponseWriter, r *http.Request) error {
	registry, err := h.findRegistry(r)
	if err != nil {
		return err
	}
	if err := h.Registries.Delete(r.Context(), shell.Actor(r), registry.ID); err != nil {
		return err
	}
	return h.Respond.Back(w, r, "/registries", respond.Flash{Kind: respond.Notice, Text: i18n.T(r.Context(), "Registry deleted.")})
}
