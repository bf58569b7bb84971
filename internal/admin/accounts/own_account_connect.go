package accounts

import (
	"net/http"

	"patchbay/internal/admin/shell"
	"patchbay/internal/connect"
)

// ownAccountConnect redirects the person to the authorization server.
func (h *Handler) ownAccountConnect(w http.ResponseWriter, r *http.Request) error {
	f, err := shell.ReadForm(r)
	if err != nil {
		return err
	}
	of, place := readPostedAccount(r, f)
	own, err := h.findOwnAccount(r, place.account)
	if err != nil {
		return err
	}
	of = ownRef(own, of.Name)
	path := ownAccountHref(own.AgentID, own.ConnectorID, of.Name)
	shell.ClearWriteDeadline(w)
	if err := h.prepareAdded(r, f, of); err != nil {
		return h.renderOwnError(w, r, own, ownForm{part: place.part, form: f}, atField(err, "account", "account"))
	}
	started, err := h.Connect.Start(r.Context(), shell.Actor(r), connect.StartRequest{
		Connector: of.Connector, Agent: of.Agent, Account: of.Name, ReturnTo: path, Browser: h.sessionBinding(r), Replaces: f.Text("replace") == "true",
	})
	if err != nil {
		return h.renderOwnError(w, r, own, ownForm{part: place.part, form: f}, err)
	}
	return h.redirectByPage(w, r, started.AuthorizeURL, path)
}
