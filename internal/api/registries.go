package api

import (
	"context"
	"net/http"
	"time"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/publicregistry"
	"patchbay/internal/secret"
	"patchbay/internal/store"
)

// registryJSON is a published registry, without its address.
type registryJSON struct {
	ID            string     `json:"id" format:"uuid"`
	Name          string     `json:"name"`
	AllConnectors bool       `json:"all_connectors" doc:"Lists every enabled connector. Else: those that one of its agents holds a grant for."`
	Agents        []string   `json:"agents" nullable:"false" doc:"Slugs. Empty with all_connectors."`
	TokenRequired bool       `json:"token_required" doc:"Clients must send an agent's token, and see what that agent may use."`
	CreatedAt     time.Time  `json:"created_at"`
	UpdatedAt     time.Time  `json:"updated_at"`
	RotatedAt     *time.Time `json:"rotated_at" doc:"Last change of the address. Null if none."`
	LastUsedAt    *time.Time `json:"last_used_at" doc:"Null if never."`
	URL           string     `json:"url,omitempty" doc:"The URL for clients, only in the response that creates it. It is a secret: it opens the list."`
}

func viewRegistry(r connectors.Registry) registryJSON {
	return registryJSON{
		ID: r.ID.String(), Name: r.Name, AllConnectors: r.EveryConnector, Agents: append([]string{}, r.Agents...), TokenRequired: r.TokenRequired,
		CreatedAt: r.CreatedAt.UTC(), UpdatedAt: r.UpdatedAt.UTC(), RotatedAt: toUTC(r.RotatedAt), LastUsedAt: toUTC(r.LastUsedAt),
	}
}

func madeRegistry(r connectors.Registry, url secret.Text) *response[registryJSON] {
	out := viewRegistry(r)
	out.URL = url.Reveal()
	return &response[registryJSON]{Body: out}
}

type registryCreate struct {
	Name          string   `json:"name"`
	AllConnectors bool     `json:"all_connectors,omitempty" doc:"true: lists every enabled connector, and agents is ignored."`
	Agents        []string `json:"agents,omitempty" doc:"Slugs of agents. Connectors that one of them holds a grant for are listed."`
	TokenRequired bool     `json:"token_required,omitempty" doc:"true: clients must send an agent's token, and see what that agent may use."`
}

// registryPatch changes a registry. An absent field keeps its value.
type registryPatch struct {
	Name          *string   `json:"name,omitempty"`
	AllConnectors *bool     `json:"all_connectors,omitempty"`
	Agents        *[]string `json:"agents,omitempty" doc:"Slugs of agents."`
	TokenRequired *bool     `json:"token_required,omitempty"`
}

// RegistryPath is the path of a registry.
type RegistryPath struct {
	ID string `path:"id" doc:"A registry's id."`
}

// findRegistry finds the registry in the path. NotFound comes before errors of the body.
func findRegistry(ctx context.Context, tenant store.Registries, p RegistryPath) (connectors.Registry, error) {
	id, ok := connectors.Ref(p.ID).UUID()
	if !ok {
		return connectors.Registry{}, fault.Errorf(fault.NotFound, "No such registry.")
	}
	return tenant.Get(ctx, connectors.RegistryID{UUID: id})
}

func (h *Handler) mountRegistries() {
	const tag = "Registries"
	registerOperation(h, operation{
		method: http.MethodGet, path: "/api/v1/registries", id: "listRegistries", tag: tag,
		summary: "List published registries, oldest first", permission: connectors.PermManage,
	}, h.listRegistries)
	registerOperation(h, operation{
		method: http.MethodPost, path: "/api/v1/registries", id: "createRegistry", tag: tag,
		summary: "Publish connectors as an MCP registry; its URL is shown once", permission: connectors.PermManage, status: http.StatusCreated,
		description: "The URL is for clients that take an MCP registry, such as VS Code and GitHub Copilot. They read {url}/v0.1/servers.",
	}, h.createRegistry)
	registerOperation(h, operation{
		method: http.MethodGet, path: "/api/v1/registries/{id}", id: "getRegistry", tag: tag,
		summary: "Get a registry", permission: connectors.PermManage,
	}, h.getRegistry)
	registerOperation(h, operation{
		method: http.MethodPatch, path: "/api/v1/registries/{id}", id: "updateRegistry", tag: tag,
		summary: "Update what a registry lists, and to which clients", permission: connectors.PermManage,
	}, h.updateRegistry)
	registerOperation(h, operation{
		method: http.MethodDelete, path: "/api/v1/registries/{id}", id: "deleteRegistry", tag: tag,
		summary: "Delete a registry; its URL ends at once", permission: connectors.PermManage,
	}, h.deleteRegistry)
	registerOperation(h, operation{
		method: http.MethodPost, path: "/api/v1/registries/{id}/rotate_address", id: "rotateRegistryAddress", tag: tag,
		summary: "Replace the URL, shown once; the previous one ends at once", permission: connectors.PermManage, status: http.StatusOK,
	}, h.rotateRegistryAddress)
}

func (h *Handler) listRegistries(ctx context.Context, actor auth.Actor, in *Paging) (*response[list[registryJSON]], error) {
	page, err := h.store.Tenant(actor.Tenant.ID).Registries().List(ctx, in.toPage())
	if err != nil {
		return nil, err
	}
	return newListResponse(page, viewRegistry), nil
}

func (h *Handler) createRegistry(ctx context.Context, actor auth.Actor, in *struct{ JSON requestBody[registryCreate] }) (*response[registryJSON], error) {
	doc, err := in.JSON.readJSON()
	if err != nil {
		return nil, err
	}
	made, url, err := h.registries.Create(ctx, actor, connectors.Registry{
		Name: doc.Name, EveryConnector: doc.AllConnectors, Agents: doc.Agents, TokenRequired: doc.TokenRequired,
	})
	if err != nil {
		return nil, err
	}
	return madeRegistry(made, url), nil
}

func (h *Handler) getRegistry(ctx context.Context, actor auth.Actor, in *RegistryPath) (*response[registryJSON], error) {
	r, err := findRegistry(ctx, h.store.Tenant(actor.Tenant.ID).Registries(), *in)
	if err != nil {
		return nil, err
	}
	return &response[registryJSON]{Body: viewRegistry(r)}, nil
}

type updateRegistryInput struct {
	RegistryPath
	JSON requestBody[registryPatch]
}

func (h *Handler) updateRegistry(ctx context.Context, actor auth.Actor, in *updateRegistryInput) (*response[registryJSON], error) {
	r, err := findRegistry(ctx, h.store.Tenant(actor.Tenant.ID).Registries(), in.RegistryPath)
	if err != nil {
		return nil, err
	}
	patch, err := in.JSON.readJSON()
	if err != nil {
		return nil, err
	}
	r, err = h.registries.Update(ctx, actor, r.ID, publicregistry.Change{
		Name: patch.Name, EveryConnector: patch.AllConnectors, Agents: patch.Agents, TokenRequired: patch.TokenRequired,
	})
	if err != nil {
		return nil, err
	}
	return &response[registryJSON]{Body: viewRegistry(r)}, nil
}

func (h *Handler) deleteRegistry(ctx context.Context, actor auth.Actor, in *RegistryPath) (*noContent, error) {
	r, err := findRegistry(ctx, h.store.Tenant(actor.Tenant.ID).Registries(), *in)
	if err != nil {
		return nil, err
	}
	return nil, h.registries.Delete(ctx, actor, r.ID)
}

func (h *Handler) rotateRegistryAddress(ctx context.Context, actor auth.Actor, in *RegistryPath) (*response[registryJSON], error) {
	r, err := findRegistry(ctx, h.store.Tenant(actor.Tenant.ID).Registries(), *in)
	if err != nil {
		return nil, err
	}
	r, url, err := h.registries.RotateAddress(ctx, actor, r.ID)
	if err != nil {
		return nil, err
	}
	return madeRegistry(r, url), nil
}
