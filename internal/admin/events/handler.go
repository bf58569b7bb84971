package events

import (
	"cmp"

	callpages "patchbay/internal/admin/calls"
	"patchbay/internal/admin/shell"
	toolpages "patchbay/internal/admin/tools"
	"patchbay/internal/auth"
	"patchbay/internal/calllog"
	"patchbay/internal/connectors"
	"patchbay/internal/limit"
	"patchbay/internal/store"
	"patchbay/internal/toolcall"
	"patchbay/internal/toolsync"
)

// Handler serves the event streams that keep pages current. All fields are required.
type Handler struct {
	*shell.Shell

	Auth    *auth.Service
	Calls   *toolcall.Executor
	Done    <-chan struct{} // closed when the server stops; nil: never
	History *calllog.Writer
	Store   *store.Store
	Streams *limit.Gate[connectors.UserID] // made by NewStreams
	Syncer  *toolsync.Syncer

	CallPages *callpages.Handler
	ToolPages *toolpages.Handler
}

// Mount adds the routes.
func (h *Handler) Mount(r shell.Routes) {
	r.Viewers.Get("/events", h.streamEvents)
}

// NewStreams bounds open streams, in total and per person. A total of 0 means 500.
func NewStreams(total int) *limit.Gate[connectors.UserID] {
	return limit.NewGate[connectors.UserID](maxPersonStreams, cmp.Or(total, maxStreams))
}
