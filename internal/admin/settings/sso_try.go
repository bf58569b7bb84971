package settings

import (
	"net/http"

	"patchbay/internal/admin/shell"
	"patchbay/internal/respond"
)

// ssoTest redirects an owner to the provider, to test the settings.
func (h *Handler) ssoTest(w http.ResponseWriter, r *http.Request) error {
	browser := h.EnsureSSOBrowser(r)
	shell.ClearWriteDeadline(w)
	to, err := h.SSO.Try(r.Context(), shell.Actor(r), browser)
	if problem, ok := shell.AsFormFault(r.Context(), err); ok {
		return h.Respond.Back(w, r, "/settings/sso", respond.Flash{Kind: respond.Alert, Text: problem.Message})
	}
	if err != nil {
		return err
	}
	h.SetSSOCookie(w, browser)
	return h.RedirectToProvider(w, r, to, "/settings/sso")
}
