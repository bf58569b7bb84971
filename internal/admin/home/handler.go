package home

import (
	"patchbay/internal/admin/shell"
)

// Handler serves the home page, notices and the search. All fields are required.
type Handler struct {
	*shell.Shell
}

// Mount adds the routes.
func (h *Handler) Mount(r shell.Routes) {
	r.Viewers.Get("/", h.homeShow)
	r.Viewers.Get("/search", h.searchShow)
	r.Viewers.Get("/notices", h.noticeList)
	r.Admins.Post("/start/dismiss", h.stepsDismiss)
}
