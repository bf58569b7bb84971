package shell

import (
	"log/slog"
	"net/http"
	"time"

	"patchbay/internal/auth"
	"patchbay/internal/manage"
	"patchbay/internal/respond"
	"patchbay/internal/sso"
	"patchbay/internal/store"
	"patchbay/internal/toolcall"
)

// TenantStore is the store of the request's tenant.
func (h *Shell) TenantStore(r *http.Request) *store.Tenant {
	return h.store.Tenant(Actor(r).Tenant.ID)
}

// Options are the services of a Shell. All are required.
type Options struct {
	Store    *store.Store
	Auth     *auth.Service
	SSO      *sso.Service
	Registry *manage.Registry
	Calls    *toolcall.Executor
	Respond  *respond.Responder
	Log      *slog.Logger
	Now      func() time.Time
	BaseURL  string // of Patchbay
}

// Shell is the part that all pages share: frame, forms, tables and confirmations.
type Shell struct {
	store    *store.Store
	auth     *auth.Service
	sso      *sso.Service
	registry *manage.Registry
	calls    *toolcall.Executor

	Respond *respond.Responder
	Log     *slog.Logger
	Now     func() time.Time
	BaseURL string // for examples: "https://patchbay.example.com"
}

// New returns a Shell, and gives the responder the frame of failure pages.
func New(o Options) *Shell {
	h := &Shell{
		store: o.Store, auth: o.Auth, sso: o.SSO, registry: o.Registry, calls: o.Calls,
		Respond: o.Respond, Log: o.Log, Now: o.Now, BaseURL: o.BaseURL,
	}
	h.Respond.SetFailureFrame(h.failureFrame)
	return h
}
