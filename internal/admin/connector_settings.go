package admin

import (
	"net/http"
	"slices"
	"strconv"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
	"patchbay/web/templates"
)

// connectorSettings shows the form that changes a connector.
func (h *Handler) connectorSettings(w http.ResponseWriter, r *http.Request) error {
	c, err := h.tenant(r).Connector(r.Context(), ref(r, "id"))
	if err != nil {
		return err
	}
	return h.settingsPage(w, r, http.StatusOK, c, settingsForm(c), nil)
}

// settingsForm is the form of a stored connector. It remembers the version that it shows, so that two people who edit at
// once do not undo each other's work.
func settingsForm(c connectors.Connector) templates.Form {
	f := draftForm(connectors.DraftOf(c))
	f.Values["id"] = c.ID.String()
	f.Values["version"] = strconv.Itoa(c.Version)
	return f
}

func (h *Handler) settingsPage(
	w http.ResponseWriter, r *http.Request, status int, c connectors.Connector, f templates.Form, test *templates.TestResult,
) error {
	stored, err := h.tenant(r).Credentials(r.Context(), c.ID, store.Page{Limit: 200})
	if err != nil {
		return err
	}
	stream, _, err := h.listening(r, c)
	if err != nil {
		return err
	}
	shared := func(cred connectors.Credential) bool { return cred.AgentID == nil }
	return h.respond.Page(w, r, status, templates.ConnectorSettings(templates.ConnectorSettingsPage{
		Frame:   h.connectorFrame(r, c, "Settings"),
		Head:    connectorHead(c, templates.TabSettings),
		Form:    f,
		Stored:  c.Auth.Type != connectors.AuthOAuth2 && slices.ContainsFunc(stored.Items, shared), // an account is nothing to keep by leaving a field empty
		Enabled: c.Enabled,
		Env:     c.EnvNames,
		Test:    test,
		Goes:    deletionTakes(c, len(stored.Items)),
		Unheard: unheard(stream),
	}))
}

// unheard is why a server is not listened to until a person says so; empty: it may be.
func unheard(l connectors.Listening) string {
	if l.State != connectors.ListenIsOff || !l.Reason.Misbehaves() {
		return ""
	}
	return l.Why()
}

// deletionTakes is what goes with a connector.
func deletionTakes(c connectors.Connector, credentials int) []string {
	var goes []string
	if c.ToolCount > 0 {
		goes = append(goes, plural(c.ToolCount, "tool")+" and their history")
	}
	if credentials > 0 {
		goes = append(goes, plural(credentials, "stored credential"))
	}
	return append(goes, "its sync runs")
}
