package main

import (
	"net/http"
	"strings"

	"github.com/go-chi/chi/v5"
	chimiddleware "github.com/go-chi/chi/v5/middleware"

	"patchbay/internal/api"
	"patchbay/internal/authserver"
	"patchbay/internal/fault"
	"patchbay/internal/gateway"
	"patchbay/internal/mcpadmin"
	"patchbay/internal/middleware"
	"patchbay/internal/publicregistry"
	"patchbay/internal/scim"
	"patchbay/web"
)

// rootHandler routes the agents' requests past the middleware of all others, which would slow them down.
func (h *app) rootHandler() http.Handler {
	others, agents := withDeadlines(h.newRouter()), h.metrics.RequestsTo(gateway.Route, h.agents.gateway)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if h.isAgentsPath(r.URL.Path) {
			agents.ServeHTTP(w, r)
			return
		}
		others.ServeHTTP(w, r)
	})
}

// isAgentsPath reports whether a path is the gateway's.
func (h *app) isAgentsPath(path string) bool {
	return path != mcpadmin.Path && h.agents.gateway.HandlesPath(path)
}

// newRouter has all routes but the agents': public ones, those for programs, those for people.
func (h *app) newRouter() http.Handler {
	r := chi.NewRouter()
	r.Use(h.metrics.Requests)
	r.Use(middleware.Chain(middleware.Options{
		BaseURL:        h.baseURL,
		TrustedProxies: h.run.server.Proxies,
		Log:            h.run.log,
		Refuse:         h.refuseUnauthenticated,
	})...)
	r.Use(middleware.RequireSingleAuthorization(h.refuseUnauthenticated))
	r.Use(chimiddleware.GetHead)
	r.NotFound(h.notFound)
	r.MethodNotAllowed(h.badMethod)

	r.Get("/healthz", serveHealth)
	r.Get("/readyz", h.respond.Program(newReadyHandler(h.database.Store, h.shuttingDown)))
	r.Handle("/static/*", web.Static())
	r.Get("/oauth/client-metadata.json", h.serveClientMetadata)
	strangers := middleware.NewUnauthenticatedLimit(h.run.server.StrangerRate, h.refuseUnauthenticated, func() { h.metrics.RequestThrottled("address") }, h.now)
	strangers.LimitAlways(publicregistry.IsPath)
	r.Group(func(r chi.Router) {
		r.Use(strangers.Middleware)
		for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodDelete} {
			r.Method(method, mcpadmin.Path, h.mcpAdmin)
		}
		r.Group(func(r chi.Router) {
			r.Use(h.auth.Sessions().LoadAndSave)
			h.api.Mount(r)
		})
		h.authServer.Mount(r)
		h.registries.Mount(r)
		h.scim.Mount(r)
		h.admin.Mount(r)
	})
	return r
}

func (h *app) notFound(w http.ResponseWriter, r *http.Request) {
	h.refuseRequest(w, r, fault.Errorf(fault.NotFound, "This URL doesn't exist."))
}

func (h *app) badMethod(w http.ResponseWriter, r *http.Request) {
	h.refuseRequest(w, r, fault.Errorf(fault.BadMethod, "This URL doesn't accept %s.", r.Method))
}

// refuseUnauthenticated refuses a request before its authentication, with an OAuth error on OAuth's paths, and with
// a registry's and SCIM's on theirs.
func (h *app) refuseUnauthenticated(w http.ResponseWriter, r *http.Request, err error) {
	if authserver.IsOAuthPath(r.URL.Path) {
		h.authServer.WriteError(w, r, err)
		return
	}
	if publicregistry.IsPath(r.URL.Path) {
		h.registries.WriteError(w, r, err)
		return
	}
	if scim.IsPath(r.URL.Path) {
		h.scim.WriteError(w, r, err)
		return
	}
	h.refuseRequest(w, r, err)
}

// refuseRequest refuses a request outside of any handler: programs get a problem document, browsers a page.
func (h *app) refuseRequest(w http.ResponseWriter, r *http.Request, err error) {
	if api.WantsJSON(r) || strings.HasPrefix(r.URL.Path, "/api/") {
		h.respond.Problem(w, r, err)
		return
	}
	h.respond.Failure(w, r, err)
}
