package connectors

import (
	"net/http"

	"patchbay/internal/admin/shell"
	toolpages "patchbay/internal/admin/tools"
	"patchbay/internal/manage"
	"patchbay/internal/toolcall"
	"patchbay/internal/toolsync"
)

// Handler serves the pages of connectors and their syncs. All fields are required.
type Handler struct {
	*shell.Shell

	Calls       *toolcall.Executor
	ProgramSync http.Handler // serves POST /connectors/{id}/sync_tools for programs; nil: only browsers are served
	Registry    *manage.Registry
	Syncer      *toolsync.Syncer

	ToolPages *toolpages.Handler
}

// Mount adds the routes.
func (h *Handler) Mount(r shell.Routes) {
	r.Viewers.Get("/connectors", h.connectorList)
	r.Viewers.Get("/connectors/export", h.connectorExport)
	r.Viewers.Get("/connectors/{id}", h.connectorShow)
	r.Viewers.Get("/connectors/{id}/tools", h.connectorTools)
	r.Viewers.Get("/connectors/{id}/operations", h.connectorOperations)
	r.Viewers.Get("/connectors/{id}/prompts", h.connectorPrompts)
	r.Viewers.Get("/connectors/{id}/resources", h.connectorResources)
	r.Viewers.Get("/connectors/{id}/access", h.connectorAccess)
	r.Viewers.Get("/connectors/{id}/calls", h.connectorCalls)
	r.Viewers.Get("/connectors/{id}/changes", h.connectorChanges)
	r.Viewers.Get("/connectors/{id}/runs", h.connectorRuns)
	r.Viewers.Get("/connectors/{id}/runs/{run}", h.runShow)
	r.Viewers.Get("/connectors/{id}/icon", h.connectorIcon)
	r.Viewers.Get(shell.FilePrefix+"/connectors", h.connectorFile)
	r.Viewers.Get(shell.FilePrefix+"/connectors/{id}/runs", h.syncRunFile)
	r.Viewers.Get(shell.FilePrefix+"/connectors/{id}/prompts", h.promptFile)
	r.Viewers.Get(shell.FilePrefix+"/connectors/{id}/resources", h.resourceFile)
	r.Members.Post("/sync_tools", h.syncAll)
	r.Members.Post("/bulk/connectors", h.connectorBulk)
	r.Members.Post("/connectors/{id}/ping", h.connectorPing)
	r.Members.Post("/connectors/{id}/runs/{run}/cancel", h.syncCancel)
	r.Admins.Get("/connectors/new", h.connectorNew)
	r.Admins.Post("/connectors", h.connectorCreate)
	r.Admins.Post("/connectors/test", h.connectorTest)
	r.Admins.Get("/connectors/import", h.connectorImportNew)
	r.Admins.Post("/connectors/import", h.connectorImport)
	r.Admins.Post("/connectors/import/preview", h.connectorImportPreview)
	r.Admins.Get("/connectors/{id}/start", h.connectorStart)
	r.Admins.Get("/connectors/{id}/settings", h.connectorSettings)
	r.Admins.PostUnless("/connectors/{id}", h.onlyRenames, h.connectorSave)
	r.Admins.Post("/connectors/{id}/operations", h.operationsSave)
	r.Admins.Post("/connectors/{id}/operations/select", h.operationsSelect)
	r.Admins.Get("/connectors/{id}/endpoint", h.endpointShow)
	r.Admins.Post("/connectors/{id}/endpoint", h.endpointPost)
	r.Admins.Post("/connectors/{id}/access", h.connectorAccessSave)
	r.Admins.Post("/connectors/{id}/enabled", h.connectorEnable)
	r.Admins.Post("/connectors/{id}/listen", h.connectorListen)
	r.Admins.Post("/connectors/{id}/acknowledge_tools", h.acknowledgeTools)
	r.Admins.Post("/connectors/{id}/methods", h.methodSend)
	r.Admins.Post("/connectors/{id}/delete", h.connectorDelete)
}

// MountSync adds the route that programs share with browsers.
func (h *Handler) MountSync(g shell.Group) { g.Post("/connectors/{id}/sync_tools", h.connectorSync) }
