package admin

import (
	"net/http"

	"patchbay/internal/respond"
	"patchbay/web/templates"
)

// settingsShow is about the tenant.
func (h *Handler) settingsShow(w http.ResponseWriter, r *http.Request) error {
	return h.tenantPage(w, r, http.StatusOK, templates.Form{Values: map[string]string{"name": actor(r).Tenant.Name}})
}

// settingsSave renames the tenant.
func (h *Handler) settingsSave(w http.ResponseWriter, r *http.Request) error {
	f, err := readForm(r)
	if err != nil {
		return err
	}
	err = h.auth.RenameTenant(r.Context(), actor(r), f.text("name"))
	if problem, ok := mendable(err); ok {
		return h.tenantPage(w, r, respond.Status(problem.Kind), f.again(problem))
	}
	if err != nil {
		return err
	}
	return h.respond.Back(w, r, "/settings", respond.Flash{Kind: respond.Notice, Text: "The settings are saved."})
}

func (h *Handler) tenantPage(w http.ResponseWriter, r *http.Request, status int, f templates.Form) error {
	tenant := actor(r).Tenant
	created := when(tenant.CreatedAt, h.now())
	return h.respond.Page(w, r, status, templates.Settings(templates.SettingsPage{
		Frame: h.frame(r, templates.NavSettings, crumb("Settings", "")),
		Form:  f,
		Facts: []templates.Fact{
			{Label: "Slug", Value: tenant.Slug, Mono: true, Copy: true},
			{Label: "ID", Value: tenant.ID.String(), Mono: true, Copy: true},
			{Label: "Made", When: &created},
		},
	}))
}
