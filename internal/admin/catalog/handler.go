package catalog

import (
	connectorpages "patchbay/internal/admin/connectors"
	"patchbay/internal/admin/shell"
	"patchbay/internal/manage"
	"patchbay/internal/mcpregistry"
)

// Handler serves the pages of the catalog and MCP registries. All fields are required.
type Handler struct {
	*shell.Shell

	Registry    *manage.Registry
	ServerLists *mcpregistry.Reader // of MCP registries

	ConnectorPages *connectorpages.Handler
}

// Mount adds the routes.
func (h *Handler) Mount(r shell.Routes) {
	r.Viewers.Get("/catalog", h.catalogList)
	r.Admins.Post("/catalog/{slug}/add", h.catalogAdd)
	r.Admins.Get("/catalog/registry", h.listingNew)
	r.Admins.Post("/catalog/registry/preview", h.listingPreview)
	r.Admins.Post("/catalog/registry", h.registryImport)
}
