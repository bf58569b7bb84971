package signin

import (
	"net/http"
	"net/url"

	"patchbay/internal/admin/shell"
	"patchbay/internal/auth"
	"patchbay/internal/fault"
	"patchbay/internal/i18n"
	"patchbay/internal/respond"
	"patchbay/web/templates"
)

// continueSignIn goes on after a correct password: to the page, or to the second factor.
func (h *Handler) continueSignIn(w http.ResponseWriter, r *http.Request, err error, returnTo string) error {
	if f := fault.As(err); f != nil && f.Type == auth.TypeCodeWanted {
		return respond.See(w, r, withReturnPath("/login/code", returnTo))
	}
	if err != nil {
		return err
	}
	return respond.See(w, r, returnTo)
}

// withReturnPath adds the return path to a page of the sign-in.
func withReturnPath(page, returnTo string) string {
	if returnTo == "/" {
		return page
	}
	return page + "?" + url.Values{"return_to": {returnTo}}.Encode()
}

// codeShow asks for the second factor.
func (h *Handler) codeShow(w http.ResponseWriter, r *http.Request) error {
	returnTo := respond.OwnPath(r.URL.Query().Get("return_to"), "/")
	half, err := h.Auth.IsPartiallySignedIn(r.Context())
	if err != nil {
		return err
	}
	if !half {
		return respond.See(w, r, withReturnPath("/login", returnTo))
	}
	return h.codePage(w, r, http.StatusOK, templates.Form{}, returnTo)
}

// codeFinish checks a code, and starts the session.
func (h *Handler) codeFinish(w http.ResponseWriter, r *http.Request) error {
	f, err := shell.ReadForm(r)
	if err != nil {
		return err
	}
	returnTo := respond.OwnPath(f.Text("return_to"), "/")
	err = h.Auth.FinishSignIn(r.Context(), f.Text("code"), auth.NewBrowser(r))
	if fault.Is(err, fault.Unauthenticated) {
		return h.Respond.Back(w, r, withReturnPath("/login", returnTo), respond.Flash{Kind: respond.Alert, Text: i18n.T(r.Context(), "Timed out. Sign in again.")})
	}
	if problem, ok := shell.AsFormFault(r.Context(), err); ok {
		respond.SetRetryAfter(w.Header(), problem)
		return h.codePage(w, r, respond.Status(problem.Kind), f.ToForm(problem), returnTo)
	}
	if err != nil {
		return err
	}
	return respond.See(w, r, returnTo)
}

func (h *Handler) codePage(w http.ResponseWriter, r *http.Request, status int, form templates.Form, returnTo string) error {
	return h.Respond.Page(w, r, status, templates.Code(templates.CodePage{
		Frame: h.SignedOutFrame(r, i18n.T(r.Context(), "Second factor")), Form: form, ReturnTo: returnTo, Again: withReturnPath("/login", returnTo),
	}))
}
