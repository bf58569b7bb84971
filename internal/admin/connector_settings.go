package admin

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
	"patchbay/internal/words"
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
	used, err := h.tenant(r).Dependents(r.Context(), c.ID, h.now())
	if err != nil {
		return err
	}
	shared := func(cred connectors.Credential) bool { return cred.AgentID == nil }
	return h.respond.Page(w, r, status, templates.ConnectorSettings(templates.ConnectorSettingsPage{
		Frame:   h.connectorFrame(r, c, words.T(r.Context(), "Settings")),
		Head:    connectorHead(r.Context(), c, templates.TabSettings),
		Form:    f,
		Stored:  c.Auth.Type != connectors.AuthOAuth2 && slices.ContainsFunc(stored.Items, shared), // an account is nothing to keep by leaving a field empty
		Enabled: c.Enabled,
		Env:     c.EnvNames,
		Test:    test,
		Used:    dependents(r.Context(), used),
		Goes:    deletionTakes(r.Context(), c, used),
		Unheard: words.Said(r.Context(), unheard(stream)),
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
func deletionTakes(ctx context.Context, c connectors.Connector, used connectors.Dependents) []string {
	var goes []string
	if c.ToolCount > 0 {
		goes = append(goes, words.N(ctx, c.ToolCount, "%s tool and their history", "%s tools and their history"))
	}
	if used.Accounts > 0 {
		goes = append(goes, words.N(ctx, used.Accounts, "%s stored credential", "%s stored credentials"))
	}
	if used.Agents > 0 {
		goes = append(goes, words.T(ctx, "what %s may use of it", agentsNamed(ctx, used)))
	}
	if used.Approvals > 0 {
		goes = append(goes, words.T(ctx, "%s for a person", waitingCalls(ctx, used)))
	}
	return append(goes, words.T(ctx, "its sync runs"))
}

// dependents say what a connector is used for; none: nobody uses it.
func dependents(ctx context.Context, used connectors.Dependents) []string {
	var list []string
	if used.Agents > 0 {
		list = append(list, words.T(ctx, "Granted to %s.", agentsNamed(ctx, used)))
	}
	switch {
	case used.Calls > connectors.MaxCountedCalls:
		list = append(list, words.T(ctx, "More than %s calls in the last 30 days.", words.Number(ctx, connectors.MaxCountedCalls)))
	case used.Calls > 0:
		list = append(list, words.N(ctx, used.Calls, "%s call in the last 30 days.", "%s calls in the last 30 days."))
	}
	if used.Approvals > 0 {
		list = append(list, words.T(ctx, "%s for a person.", waitingCalls(ctx, used)))
	}
	if used.Accounts > 0 {
		list = append(list, words.N(ctx, used.Accounts, "%s credential stored for it.", "%s credentials stored for it."))
	}
	return list
}

func waitingCalls(ctx context.Context, used connectors.Dependents) string {
	if used.Approvals == 1 {
		return words.T(ctx, "1 call that waits")
	}
	return words.T(ctx, "%s calls that wait", words.Number(ctx, used.Approvals))
}

// agentsNamed names the agents that were granted a connector, as far as a sentence may.
func agentsNamed(ctx context.Context, used connectors.Dependents) string {
	named := strings.Join(used.Names, ", ")
	if more := used.Agents - len(used.Names); more > 0 {
		return words.N(ctx, more, "%[2]s and %[1]s other agent", "%[2]s and %[1]s other agents", named)
	}
	return named
}
