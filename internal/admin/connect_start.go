package admin

import (
	"errors"
	"net/http"
	"net/url"

	"patchbay/internal/connect"
	"patchbay/internal/connectors"
	"patchbay/internal/respond"
	"patchbay/internal/secret"
	"patchbay/internal/words"
	"patchbay/web/templates"
)

// connectStart begins to connect an account, and sends the browser on to the authorization server.
func (h *Handler) connectStart(w http.ResponseWriter, r *http.Request) error {
	f, err := readForm(r)
	if err != nil {
		return err
	}
	c, err := h.tenant(r).Connector(r.Context(), ref(r, "id"))
	if err != nil {
		return err
	}
	agent, _ := agentOf(r)
	waitLong(w)
	started, err := h.connect.Start(r.Context(), actor(r), connect.Order{
		Connector: ref(r, "id"), Agent: agent, ReturnTo: respond.OwnPath(f.text("return_to"), ""), Browser: h.session(r),
	})
	if err != nil {
		return h.connectFailed(w, r, c, err)
	}
	return h.leave(w, r, started.AuthorizeURL, credentialsPath(c.Slug))
}

// session is what binds a connection to the browser's session; empty: it has none.
func (h *Handler) session(r *http.Request) secret.Text {
	return connect.SessionBinding(h.auth.Sessions().Token(r.Context()))
}

// leave sends the browser to another site by a page of ours. A redirect would be the answer to a form, which our content
// security policy keeps here (form-action), and so would be every redirect that the other site adds.
func (h *Handler) leave(w http.ResponseWriter, r *http.Request, to, back string) error {
	u, err := url.Parse(to)
	if err != nil {
		return err
	}
	w.Header().Set("Refresh", "0; url="+to)
	return h.respond.Page(w, r, http.StatusOK, templates.Leaving(templates.LeavingPage{
		Frame: h.door(r, words.T(r.Context(), "Taking you to %s", u.Host)), Host: u.Host, URL: to, Back: back,
	}))
}

// connectFailed shows why an account cannot be connected, with every step that led there.
func (h *Handler) connectFailed(w http.ResponseWriter, r *http.Request, c connectors.Connector, err error) error {
	problem := respond.Told(r.Context(), err)
	news := credentialsNews{status: respond.Status(problem.Kind)}
	if failed, ok := errors.AsType[*connect.Failed](err); ok {
		news.diagnosis = h.diagnosis(r.Context(), c, &failed.Diagnosis)
		news.diagnosis.Title, news.diagnosis.First = words.T(r.Context(), "Why it is not connected"), true
	} else if _, ok := mendable(r.Context(), err); ok {
		news.alert = problem.Message
	} else {
		return err
	}
	respond.SetRetryAfter(w.Header(), problem)
	return h.credentialsPage(w, r, c, news)
}
