package accounts

import (
	"net/http"

	"patchbay/internal/admin/shell"
	"patchbay/internal/connect"
	"patchbay/web/templates"
)

// connectLink creates a link for the owner of an account, and shows it once.
func (h *Handler) connectLink(w http.ResponseWriter, r *http.Request) error {
	c, err := h.TenantStore(r).Connectors().Get(r.Context(), shell.PathRef(r, "id"))
	if err != nil {
		return err
	}
	f, err := shell.ReadForm(r)
	if err != nil {
		return err
	}
	of, place := readPostedAccount(r, f)
	if err := h.prepareAdded(r, f, of); err != nil {
		return h.renderAccountError(w, r, place, f, "account", err)
	}
	agent := of.Agent
	link, err := h.Connect.LinkFor(r.Context(), shell.Actor(r), connect.StartRequest{Connector: of.Connector, Agent: agent, Account: of.Name})
	if err != nil {
		return h.renderConnectError(w, r, c, err)
	}
	view := &templates.ConnectLink{URL: link.URL, Account: of.Name, Ends: shell.NewWhen(r.Context(), link.ExpiresAt, h.Now())}
	if agent != nil {
		a, err := h.TenantStore(r).Agents().Get(r.Context(), *agent)
		if err != nil {
			return err
		}
		view.For = a.Name
	}
	return h.credentialsPage(w, r, credentialsPageState{link: view})
}
