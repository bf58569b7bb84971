package admin

import (
	"net/http"

	"patchbay/internal/connect"
	"patchbay/internal/respond"
)

// ownAccountConnect sends the person on to where they sign in.
func (h *Handler) ownAccountConnect(w http.ResponseWriter, r *http.Request) error {
	own, err := h.own(r)
	if err != nil {
		return err
	}
	connector, agent := refsOf(own)
	here := ownAccountPath(own.AgentID, own.ConnectorID)
	waitLong(w)
	started, err := h.connect.Start(r.Context(), actor(r), connect.Order{Connector: connector, Agent: agent, ReturnTo: here, Browser: h.session(r)})
	if problem, ok := mendable(r.Context(), err); ok {
		return h.ownAccountPage(w, r, respond.Status(problem.Kind), own, form{}, problem)
	}
	if err != nil {
		return err
	}
	return h.leave(w, r, started.AuthorizeURL, here)
}
