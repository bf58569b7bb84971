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

// keyCreate creates an API key and shows it on the response page alone. A redirect would carry it through the
// session or the address.
func (h *Handler) keyCreate(w http.ResponseWriter, r *http.Request) error {
	f, err := readForm(r)
	if err != nil {
		return err
	}
	key, text, err := h.issueKey(r, f)
	if problem, ok := asFormFault(r.Context(), err); ok {
		return h.keysPage(w, r, respond.Status(problem.Kind), f.toForm(problem), nil)
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

func (h *Handler) issueKey(r *http.Request, f postedForm) (connectors.APIKey, secret.Text, error) {
	expires, err := f.readLastDay("expires_at")
	if err != nil {
		return connectors.APIKey{}, "", err
	}
	return h.auth.IssueKey(r.Context(), actor(r), auth.KeyRequest{
		Name:      f.text("name"),
		Role:      connectors.Role(f.text("role")),
		ExpiresAt: expires,
	})
}

// readLastDay reads a date, and returns its end in UTC; nil if it is empty.
func (f postedForm) readLastDay(name string) (*time.Time, error) {
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
