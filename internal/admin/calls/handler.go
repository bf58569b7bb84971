package calls

import (
	"patchbay/internal/admin/shell"
	"patchbay/internal/manage"
	"patchbay/internal/store"
	"patchbay/internal/toolcall"
)

// Handler serves the pages of calls, tasks and approvals. All fields are required.
type Handler struct {
	*shell.Shell

	Calls    *toolcall.Executor
	Registry *manage.Registry
	Store    *store.Store
}

// Mount adds the routes.
func (h *Handler) Mount(r shell.Routes) {
	r.Viewers.Get("/calls", h.callList)
	r.Viewers.Get("/calls/{id}", h.callShow)
	r.Viewers.Get("/tasks", h.taskList)
	r.Viewers.Get(shell.FilePrefix+"/calls", h.callFile)
	r.Viewers.Get(shell.FilePrefix+"/tasks", h.taskFile)
	r.Viewers.Get(shell.FilePrefix+"/approvals", h.approvalFile)
	r.Viewers.Get("/calls/{id}/pictures/{n}", h.callPicture)
	r.Viewers.Get("/approvals", h.approvalList)
	r.Viewers.Get("/approvals/{id}", h.approvalShow)
	r.Members.Post("/calls/{id}/cancel", h.callCancel)
	r.Members.Post("/approvals/{id}/approve", h.approvalApprove)
	r.Members.Post("/approvals/{id}/deny", h.approvalDeny)
	r.Admins.Post("/usage/reset", h.usageReset)
}
