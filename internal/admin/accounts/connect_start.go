package accounts

import (
	"errors"
	"net/http"
	"net/url"

	"patchbay/internal/admin/shell"
	"patchbay/internal/connect"
	"patchbay/internal/connectors"
	"patchbay/internal/i18n"
	"patchbay/internal/respond"
	"patchbay/internal/secret"
	"patchbay/web/templates"
)

// connectStart begins to connect an account, and redirects to the authorization server.
func (h *Handler) connectStart(w http.ResponseWriter, r *http.Request) error {
	f, err := shell.ReadForm(r)
	if err != nil {
		return err
	}
	c, err := h.TenantStore(r).Connectors().Get(r.Context(), shell.PathRef(r, "id"))
	if err != nil {
		return err
	}
	of, place := readPostedAccount(r, f)
	if err := h.prepareAdded(r, f, of); err != nil {
		return h.renderAccountError(w, r, place, f, "account", err)
	}
	shell.ClearWriteDeadline(w)
	started, err := h.Connect.Start(r.Context(), shell.Actor(r), connect.StartRequest{
		Connector: of.Connector, Agent: of.Agent, Account: of.Name, ReturnTo: respond.OwnPath(f.Text("return_to"), ""), Browser: h.sessionBinding(r),
		Replaces: f.Text("replace") == "true",
	})
	if _, failed := errors.AsType[*connect.StartError](err); err != nil && !failed && place.part == addPart {
		return h.renderAccountError(w, r, place, f, "account", err)
	}
	if err != nil {
		return h.renderConnectError(w, r, c, err)
	}
	return h.redirectByPage(w, r, started.AuthorizeURL, shell.CredentialsPath(c.Slug))
}

// sessionBinding binds a connection to the browser's session; empty without one.
func (h *Handler) sessionBinding(r *http.Request) secret.Text {
	return connect.SessionBinding(h.Auth.Sessions().Token(r.Context()))
}

// redirectByPage leads to another site by a page with a link. A redirect would answer a form, and form-action
// in the content security policy forbids other sites there.
func (h *Handler) redirectByPage(w http.ResponseWriter, r *http.Request, to, back string) error {
	u, err := url.Parse(to)
	if err != nil {
		return err
	}
	w.Header().Set("Refresh", "0; url="+to)
	return h.Respond.Page(w, r, http.StatusOK, templates.Leaving(templates.LeavingPage{
		Frame: h.SignedOutFrame(r, i18n.T(r.Context(), "Taking you to %s", u.Host)), Host: u.Host, URL: to, Back: back,
	}))
}

// renderConnectError shows why an account cannot be connected, with every step of the discovery.
func (h *Handler) renderConnectError(w http.ResponseWriter, r *http.Request, c connectors.Connector, err error) error {
	problem := respond.LocalizedFault(r.Context(), err)
	state := credentialsPageState{status: respond.Status(problem.Kind)}
	if failed, ok := errors.AsType[*connect.StartError](err); ok {
		state.diagnosis = h.newDiagnosis(r.Context(), c, &failed.Diagnosis)
		state.diagnosis.Title, state.diagnosis.First = i18n.T(r.Context(), "Why it isn't connected"), true
	} else if _, ok := shell.AsFormFault(r.Context(), err); ok {
		state.alert = problem.Message
	} else {
		return err
	}
	respond.SetRetryAfter(w.Header(), problem)
	return h.credentialsPage(w, r, state)
}
