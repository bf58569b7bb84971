package settings

import (
	"fmt"
	"net/http"

	"patchbay/internal/admin/shell"
	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/respond"
	"patchbay/internal/secret"
	"patchbay/web/templates"
)

// keyCreate creates an API key and shows it on the response page alone. A redirect would carry it through the
// session or the address.
func (h *Handler) keyCreate(w http.ResponseWriter, r *http.Request) error {
	f, err := shell.ReadForm(r)
	if err != nil {
		return err
	}
	key, text, err := h.issueKey(r, f)
	if problem, ok := shell.AsFormFault(r.Context(), err); ok {
		return h.keysPage(w, r, respond.Status(problem.Kind), f.ToForm(problem), nil)
	}
	if err != nil {
		return err
	}
	return h.keysPage(w, r, http.StatusOK, templates.Form{}, &templates.NewAPIKey{
		Name:    key.Name,
		Token:   text.Reveal(),
		Example: fmt.Sprintf("curl -H 'Authorization: Bearer %s' %s/api/v1/connectors", text.Reveal(), h.BaseURL),
	})
}

func (h *Handler) issueKey(r *http.Request, f shell.PostedForm) (connectors.APIKey, secret.Text, error) {
	expires, err := f.ReadLastDay("expires_at")
	if err != nil {
		return connectors.APIKey{}, "", err
	}
	return h.Auth.IssueKey(r.Context(), shell.Actor(r), auth.KeyRequest{
		Name:      f.Text("name"),
		Role:      connectors.Role(f.Text("role")),
		ExpiresAt: expires,
	})
}
