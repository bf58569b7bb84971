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
	"patchbay/web"
)

// doors are all that a listener serves: agents by a way of their own, which the envelope of the others would slow down.
func (h *house) doors() http.Handler {
	others, agents := deadlines(h.routes()), h.metrics.RequestsTo(gateway.Route, h.agents.gateway)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if h.agentsPath(r.URL.Path) {
			agents.ServeHTTP(w, r)
			return
		}
		others.ServeHTTP(w, r)
	})
}

// agentsPath tells whether a path is the gateway's.
func (h *house) agentsPath(path string) bool {
	return path != mcpadmin.Path && h.agents.gateway.Serves(path)
}

// routes is the address space but for the agents': what is public, what is for programs, what is for people.
func (h *house) routes() http.Handler {
	r := chi.NewRouter()
	r.Use(h.metrics.Requests)
	r.Use(middleware.Envelope(middleware.Options{
		BaseURL:        h.baseURL,
		TrustedProxies: h.serving.server.Proxies,
		Log:            h.serving.log,
		Refuse:         h.refuse,
	})...)
	r.Use(middleware.OneAuthorization(h.refuseStranger))
	r.Use(chimiddleware.GetHead)
	r.NotFound(h.notFound)
	r.MethodNotAllowed(h.badMethod)

	r.Get("/healthz", health)
	r.Get("/readyz", h.respond.Program(ready(h.database.store, h.leaving)))
	r.Handle("/static/*", web.Static())
	r.Get("/oauth/client-metadata.json", h.clientDocument)
	strangers := middleware.NewStrangers(h.serving.server.StrangerRate, h.refuseStranger, func() { h.metrics.RequestThrottled("address") }, h.now)
	r.Group(func(r chi.Router) {
		r.Use(strangers.Guard)
		for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodDelete} {
			r.Method(method, mcpadmin.Path, h.assistants)
		}
		r.Group(func(r chi.Router) {
			r.Use(h.auth.Sessions().LoadAndSave)
			h.api.Mount(r)
		})
		h.programs.Mount(r)
		h.admin.Mount(r)
	})
	return r
}

func (h *house) notFound(w http.ResponseWriter, r *http.Request) {
	h.refuse(w, r, fault.Errorf(fault.NotFound, "There is nothing at this address."))
}

func (h *house) badMethod(w http.ResponseWriter, r *http.Request) {
	h.refuse(w, r, fault.Errorf(fault.BadMethod, "This address does not take the method %s.", r.Method))
}

// refuseStranger answers a request that is refused before its sender is known: as OAuth has it where OAuth is spoken.
func (h *house) refuseStranger(w http.ResponseWriter, r *http.Request, err error) {
	if authserver.Speaks(r.URL.Path) {
		h.programs.Refuse(w, r, err)
		return
	}
	h.refuse(w, r, err)
}

// refuse answers outside any door: programs get a problem document, browsers a page.
func (h *house) refuse(w http.ResponseWriter, r *http.Request, err error) {
	if api.WantsJSON(r) || strings.HasPrefix(r.URL.Path, "/api/") {
		h.respond.Problem(w, r, err)
		return
	}
	h.respond.Failure(w, r, err)
}
