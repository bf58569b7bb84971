package tools

import (
	"patchbay/internal/admin/shell"
	"patchbay/internal/agentview"
	"patchbay/internal/manage"
	"patchbay/internal/toolcall"
	"patchbay/internal/toolsync"
)

// Handler serves the pages of tools and their changes. All fields are required.
type Handler struct {
	*shell.Shell

	Access   *agentview.Cache
	Calls    *toolcall.Executor
	Done     <-chan struct{} // closed when the server stops; nil: never
	Registry *manage.Registry
	Syncer   *toolsync.Syncer
}

// Mount adds the routes.
func (h *Handler) Mount(r shell.Routes) {
	r.Viewers.Get("/connectors/{id}/tools/{tool}", h.toolShow)
	r.Viewers.Get("/connectors/{id}/tools/{tool}/changes", h.changeCurrent)
	r.Viewers.Get("/connectors/{id}/tools/{tool}/changes/{change}", h.changeShow)
	r.Viewers.Get("/connectors/{id}/instructions/changes", h.instructionsChange)
	r.Viewers.Get("/tools", h.toolSearch)
	r.Viewers.Get(shell.FilePrefix+"/connectors/{id}/tools", h.connectorToolFile)
	r.Viewers.Get(shell.FilePrefix+"/tools", h.toolFile)
	r.Viewers.Get(shell.FilePrefix+"/changes", h.changeFile)
	r.Viewers.Get("/changes", h.changeList)
	r.Members.Post("/connectors/{id}/tools/{tool}/try", h.toolTry)
	r.Admins.Post("/connectors/{id}/tools", h.toolBulk)
	r.Admins.Post("/connectors/{id}/tools/{tool}/curate", h.toolCurate)
	r.Admins.Post("/connectors/{id}/tools/{tool}/answer", h.toolAnswer)
	for _, reviewed := range []string{"/connectors/{id}/tools/{tool}", "/connectors/{id}/instructions"} {
		r.Admins.PostUnless(reviewed+"/accept", shell.IsUnsure, h.changeAccept)
		r.Admins.Post(reviewed+"/reject", h.changeReject)
		r.Admins.Post(reviewed+"/restore", h.changeRestore)
	}
	r.Admins.Post("/connectors/{id}/tools/{tool}/keep", h.changeKeep)
	r.Admins.PostUnless("/connectors/{id}/tools/{tool}/withdraw", shell.IsUnsure, h.skillWithdraw)
	r.Admins.PostUnless("/changes/decide", decidesNothingRisky, h.changeDecideMany)
	r.Admins.Post("/changes/undo", h.changeUndo)
	r.Admins.Post("/changes/accept_cosmetic", h.changeAcceptCosmetic)
}
