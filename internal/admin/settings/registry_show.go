package settings

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"time"

	"patchbay/internal/admin/shell"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/i18n"
	"patchbay/internal/store"
	"patchbay/web/templates"
)

func (h *Handler) registryShow(w http.ResponseWriter, r *http.Request) error {
	registry, err := h.findRegistry(r)
	if err != nil {
		return err
	}
	return h.registryPage(w, r, http.StatusOK, registry, registryPageState{})
}

// findRegistry reads the registry in the path.
func (h *Handler) findRegistry(r *http.Request) (connectors.Registry, error) {
	id, ok := shell.PathRef(r, "id").UUID()
	if !ok {
		return connectors.Registry{}, fault.Errorf(fault.NotFound, "No such registry.")
	}
	return h.TenantStore(r).Registries().Get(r.Context(), connectors.RegistryID{UUID: id})
}

// registryPageState is the result of an action on the page.
type registryPageState struct {
	form   *templates.Form // with its errors; nil: the stored settings
	chosen []string        // agents, with form
	url    string          // the new address; empty: none
}

func (h *Handler) registryPage(w http.ResponseWriter, r *http.Request, status int, registry connectors.Registry, state registryPageState) error {
	form, chosen := registryForm(registry), registry.Agents
	if state.form != nil {
		form, chosen = *state.form, state.chosen
	}
	agents, err := h.agentChoices(r, chosen)
	if err != nil {
		return err
	}
	row := registryRow(r.Context(), registry, h.Now())
	return h.Respond.Page(w, r, status, templates.Registry(templates.RegistryPage{
		Frame:    h.NewFrame(r, templates.NavRegistries, shell.NewCrumb(i18n.T(r.Context(), "Registries"), "/registries"), shell.NewCrumb(registry.Name, "")),
		Registry: row,
		Form:     form,
		Agents:   agents,
		Facts:    registryFacts(r.Context(), registry, h.Now()),
		URL:      state.url,
	}))
}

// agentChoices offers the tenant's first agents, and those that are chosen.
func (h *Handler) agentChoices(r *http.Request, chosen []string) ([]templates.Choice, error) {
	list, err := h.TenantStore(r).Agents().List(r.Context(), store.Page{Limit: store.MaxLimit})
	if err != nil {
		return nil, err
	}
	var choices []templates.Choice
	for _, a := range list.Items {
		choices = append(choices, templates.Choice{Value: a.Slug, Label: a.Name, Chosen: slices.Contains(chosen, a.Slug)})
	}
	for _, slug := range chosen {
		if !slices.ContainsFunc(choices, func(c templates.Choice) bool { return c.Value == slug }) {
			choices = append(choices, templates.Choice{Value: slug, Label: slug, Chosen: true})
		}
	}
	return choices, nil
}

func registryPath(id connectors.RegistryID) string { return "/registries/" + id.String() }

func registryRow(ctx context.Context, registry connectors.Registry, now time.Time) templates.RegistryRow {
	row := templates.RegistryRow{
		Name: registry.Name, Href: registryPath(registry.ID), Lists: i18n.T(ctx, "All connectors"), Access: i18n.T(ctx, "URL"), LastUsed: shell.NewWhenOrNever(ctx, registry.LastUsedAt, now),
	}
	if !registry.EveryConnector {
		row.Lists = i18n.N(ctx, len(registry.Agents), "%s agent", "%s agents")
	}
	if registry.TokenRequired {
		row.Access = i18n.T(ctx, "URL and token")
	}
	return row
}

func registryFacts(ctx context.Context, registry connectors.Registry, now time.Time) []templates.Fact {
	used, rotated, made := shell.NewWhenOrNever(ctx, registry.LastUsedAt, now), shell.NewWhenOrNever(ctx, registry.RotatedAt, now), shell.NewWhen(ctx, registry.CreatedAt, now)
	return []templates.Fact{
		{Label: i18n.T(ctx, "Last used"), When: &used},
		{Label: i18n.T(ctx, "URL changed"), When: &rotated},
		{Label: i18n.T(ctx, "ID"), Value: registry.ID.String(), Mono: true, Copy: true},
		{Label: i18n.T(ctx, "Created"), When: &made},
	}
}

// The form's values for what is listed.
const (
	listsAll    = "all"
	listsAgents = "agents"
)

func registryForm(registry connectors.Registry) templates.Form {
	lists := listsAgents
	if registry.EveryConnector {
		lists = listsAll
	}
	return templates.Form{Values: map[string]string{
		"name": registry.Name, "lists": lists, "token_required": strconv.FormatBool(registry.TokenRequired),
	}}
}
