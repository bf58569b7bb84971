package admin

import (
	"net/http"
	"strconv"
	"strings"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/registry"
	"patchbay/internal/respond"
	"patchbay/internal/words"
)

// connectorSave changes a connector's settings. Secret fields that are left empty keep what is stored.
func (h *Handler) connectorSave(w http.ResponseWriter, r *http.Request) error {
	f, err := readForm(r)
	if err != nil {
		return err
	}
	before, err := h.tenant(r).Connector(r.Context(), ref(r, "id"))
	if err != nil {
		return err
	}
	c, notices, err := h.saveConnector(r, f, before)
	if problem, ok := mendable(r.Context(), err); ok {
		return h.settingsPage(w, r, respond.Status(problem.Kind), before, f.again(problem), nil)
	}
	if err != nil {
		return err
	}
	to := connectorPath(c.Slug) + "/settings"
	if c.Auth.Type == connectors.AuthOAuth2 && before.Auth.Type != connectors.AuthOAuth2 {
		to, notices = credentialsPath(c.Slug), append(notices, words.T(r.Context(), "Connect it."))
	}
	text := strings.Join(append([]string{words.T(r.Context(), "The settings are saved.")}, notices...), " ")
	return h.respond.Back(w, r, to, respond.Flash{Kind: respond.Notice, Text: text})
}

func (h *Handler) saveConnector(r *http.Request, f form, before connectors.Connector) (connectors.Connector, []string, error) {
	if err := f.retype(r.Context()); err != nil {
		return connectors.Connector{}, nil, err
	}
	d, err := f.draft(r.Context(), connectors.DraftOf(before))
	if err != nil {
		return connectors.Connector{}, nil, err
	}
	version, err := f.version()
	if err != nil {
		return connectors.Connector{}, nil, err
	}
	secrets := f.secrets(d.Auth.Type, "auth.")
	return h.registry.UpdateConnector(r.Context(), actor(r), connectors.Ref(before.ID.String()), registry.Change{
		Draft:   func(draft *connectors.Draft) { *draft = d },
		Secret:  &secrets,
		Version: version,
	})
}

// version is the version of what the form showed; 0 where it does not say.
func (f form) version() (int, error) {
	typed := f.text("version")
	if typed == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(typed, 10, 32)
	if err != nil {
		return 0, fault.Errorf(fault.Malformed, "This form is damaged. Load the page again.")
	}
	return int(n), nil
}
