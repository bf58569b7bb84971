package connectors

import (
	"net/http"
	"strconv"
	"strings"

	"patchbay/internal/admin/shell"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/i18n"
	"patchbay/internal/manage"
	"patchbay/internal/respond"
)

// connectorSave changes a connector's settings. An empty secret field keeps the stored secret.
func (h *Handler) connectorSave(w http.ResponseWriter, r *http.Request) error {
	f, err := readConnectorForm(w, r)
	if err != nil {
		return err
	}
	before, err := h.TenantStore(r).Connectors().Get(r.Context(), shell.PathRef(r, "id"))
	if err != nil {
		return err
	}
	c, notices, err := h.saveConnector(r, f, before)
	if problem, ok := shell.AsFormFault(r.Context(), err); ok {
		s, err := h.loadSettings(r, connectors.Ref(before.ID.String()))
		if err != nil {
			return err
		}
		form := f.ToForm(problem)
		if problem.Type == manage.TypeConfirmationRequired {
			form = f.ToForm(nil)
			f.MarkTypedSecrets(r.Context(), form)
			for _, loss := range problem.Fields {
				s.drops = append(s.drops, loss.Message)
			}
		}
		return h.settingsPage(w, r, respond.Status(problem.Kind), s, form, nil)
	}
	if err != nil {
		return err
	}
	to := shell.ConnectorPath(c.Slug) + "/settings"
	if c.Auth.Type == connectors.AuthOAuth2 && before.Auth.Type != connectors.AuthOAuth2 {
		to, notices = shell.CredentialsPath(c.Slug), append(notices, i18n.T(r.Context(), "Connect it."))
	}
	text := strings.Join(append([]string{i18n.T(r.Context(), "Settings saved.")}, notices...), " ")
	return h.Respond.Back(w, r, to, respond.Flash{Kind: respond.Notice, Text: text})
}

func (h *Handler) saveConnector(r *http.Request, f shell.PostedForm, before connectors.Connector) (connectors.Connector, []string, error) {
	d, err := readDraft(r.Context(), f, connectors.DraftOf(before))
	if err != nil {
		return connectors.Connector{}, nil, err
	}
	version, err := readVersion(f)
	if err != nil {
		return connectors.Connector{}, nil, err
	}
	var document []byte // nil: the stored one stays
	if before.Transport == connectors.TransportAPI {
		content, _, err := readAPIContent(r, f, &d)
		if err != nil {
			return connectors.Connector{}, nil, err
		}
		document = content.Document
	}
	secrets := ReadSecrets(f, d.Auth.Type, "auth.")
	return h.Registry.UpdateConnector(r.Context(), shell.Actor(r), connectors.Ref(before.ID.String()), manage.Change{
		Draft:   func(draft *connectors.Draft) { *draft = d },
		Secret:  &secrets,
		Version: version,

		ConfirmMove: f.Checked("confirm"),
		Document:    document,
	})
}

// readVersion reads the version that the form showed; 0 if it is missing.
func readVersion(f shell.PostedForm) (int, error) {
	typed := f.Text("version")
	if typed == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(typed, 10, 32)
	if err != nil {
		return 0, fault.Errorf(fault.Malformed, "Invalid form. Reload the page.")
	}
	return int(n), nil
}
