package admin

import (
	"fmt"
	"net/http"
	"time"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/respond"
	"patchbay/internal/secret"
	"patchbay/web/templates"
)

// keyCreate makes an API key. It is shown on the page that answers, and nowhere else: a redirect would carry it through
// the session or the address.
func (h *Handler) keyCreate(w http.ResponseWriter, r *http.Request) error {
	f, err := readForm(r)
	if err != nil {
		return err
	}
	key, text, err := h.issueKey(r, f)
	if problem, ok := mendable(r.Context(), err); ok {
		return h.keysPage(w, r, respond.Status(problem.Kind), f.again(problem), nil)
	}
	if err != nil {
		return err
	}
	return h.keysPage(w, r, http.StatusOK, templates.Form{}, &templates.NewAPIKey{
		Name:    key.Name,
		Token:   text.Reveal(),
		Example: fmt.Sprintf("curl -H 'Authorization: Bearer %s' %s/api/v1/connectors", text.Reveal(), h.baseURL),
	})
}

func (h *Handler) issueKey(r *http.Request, f form) (connectors.APIKey, secret.Text, error) {
	expires, err := f.lastDay("expires_at")
	if err != nil {
		return connectors.APIKey{}, "", err
	}
	return h.auth.IssueKey(r.Context(), actor(r), auth.KeyRequest{
		Name:      f.text("name"),
		Role:      connectors.Role(f.text("role")),
		ExpiresAt: expires,
	})
}

// lastDay reads a date, and means its end in UTC; nil where there is none.
func (f form) lastDay(name string) (*time.Time, error) {
	typed := f.text(name)
	if typed == "" {
		return nil, nil
	}
	day, err := time.Parse(time.DateOnly, typed)
	if err != nil {
		return nil, fault.InvalidFields(fault.Field{Location: name, Message: "This is not a date, as 2027-01-31."})
	}
	end := day.AddDate(0, 0, 1)
	return &end, nil
}
