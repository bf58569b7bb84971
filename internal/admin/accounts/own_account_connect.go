package accounts

import (
	"net/http"

	"patchbay/internal/admin/shell"
	"patchbay/internal/connect"
	"patchbay/internal/respond"
)

// ownAccountConnect redirects the person to the authorization server.
func (h *Handler) ownAccountConnect(w http.ResponseWriter, r *http.Request) error {
	f, err := shell.ReadForm(r)
	if err != nil {
		return err
	}
	own, err := h.findOwnAccount(r)
	if err != nil {
		return err
	}
	connector, agent := accountRefs(own)
	path := ownAccountPath(own.AgentID, own.ConnectorID)
	shell.ClearWriteDeadline(w)
	started, err := h.Connect.Start(r.Context(), shell.Actor(r), connect.StartRequest{
		Connector: connector, Agent: agent, ReturnTo: path, Browser: h.sessionBinding(r), Replaces: f.Text("replace") == "true",
	})
	if problem, ok := shell.AsFormFault(r.Context(), err); ok {
		return h.ownAccountPage(w, r, respond.Status(problem.Kind), own, shell.PostedForm{}, problem)
	}
	if err != nil {
		return err
	}
	return h.redirectByPage(w, r, started.AuthorizeURL, path)
}
