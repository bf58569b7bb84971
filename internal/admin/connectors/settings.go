package connectors

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"patchbay/internal/admin/shell"
	"patchbay/internal/connectors"
	"patchbay/internal/i18n"
	"patchbay/internal/store"
	"patchbay/web/templates"
)

func (h *Handler) connectorSettings(w http.ResponseWriter, r *http.Request) error {
	s, err := h.loadSettings(r, shell.PathRef(r, "id"))
	if err != nil {
		return err
	}
	return h.settingsPage(w, r, http.StatusOK, s, settingsForm(s.connector), nil)
}

// connectorSettings is what a connector's settings combine.
type connectorSettings struct {
	connector connectors.Connector
	stored    store.List[connectors.Credential]
	stream    connectors.Listening
	used      connectors.Dependents
	drops     []string // what the move to another origin drops
}

func (h *Handler) loadSettings(r *http.Request, connector connectors.Ref) (s connectorSettings, err error) {
	err = h.TenantStore(r).Snapshot(r.Context(), func(tx *store.Tenant) error {
		if s.connector, err = tx.Connectors().Get(r.Context(), connector); err != nil {
			return err
		}
		if s.stored, err = tx.Connectors().Credentials(r.Context(), s.connector.ID, store.Page{Limit: 200}); err != nil {
			return err
		}
		if s.stream, _, err = listeningState(r.Context(), tx.Syncs(), s.connector); err != nil {
			return err
		}
		s.used, err = tx.Connectors().Dependents(r.Context(), s.connector.ID, h.Now())
		return err
	})
	return s, err
}

// settingsForm is the form of a stored connector. It holds the version, so that concurrent edits do not
// overwrite each other.
func settingsForm(c connectors.Connector) templates.Form {
	f := draftForm(connectors.DraftOf(c))
	f.Values["id"] = c.ID.String()
	f.Values["version"] = strconv.Itoa(c.Version)
	return f
}

func (h *Handler) settingsPage(
	w http.ResponseWriter, r *http.Request, status int, s connectorSettings, f templates.Form, test *templates.TestResult,
) error {
	c := s.connector
	shared := func(cred connectors.Credential) bool { return cred.AgentID == nil }
	return h.Respond.Page(w, r, status, templates.ConnectorSettings(templates.ConnectorSettingsPage{
		Frame:              h.ConnectorFrame(r, c, i18n.T(r.Context(), "Settings")),
		Head:               ConnectorHead(r.Context(), c, templates.TabSettings, h.ConnectorMark(c)),
		Form:               f,
		Durations:          durationChoices(r.Context(), f),
		Stored:             c.Auth.Type != connectors.AuthOAuth2 && slices.ContainsFunc(s.stored.Items, shared), // for an account an empty field keeps nothing
		Enabled:            c.Enabled,
		Env:                c.EnvNames,
		Test:               test,
		Drops:              s.drops,
		Used:               dependentsText(r.Context(), s.used),
		Goes:               deletionEffects(r.Context(), c, s.used),
		ListeningSuspended: i18n.TranslateKnown(r.Context(), listeningSuspended(s.stream)),
	}))
}

// listeningSuspended says why a server is not listened to until a person resumes it; empty if it is.
func listeningSuspended(l connectors.Listening) string {
	if l.State != connectors.ListenStateOff || !l.Reason.Misbehaves() {
		return ""
	}
	return l.Why()
}

// deletionEffects lists what is deleted with a connector.
func deletionEffects(ctx context.Context, c connectors.Connector, used connectors.Dependents) []string {
	var effects []string
	if c.ToolCount > 0 {
		effects = append(effects, i18n.N(ctx, c.ToolCount, "%s tool and their history", "%s tools and their history"))
	}
	if used.Accounts > 0 {
		effects = append(effects, i18n.N(ctx, used.Accounts, "%s stored credential", "%s stored credentials"))
	}
	if used.Agents > 0 {
		effects = append(effects, i18n.T(ctx, "access of %s", agentNamesText(ctx, used)))
	}
	if used.Approvals > 0 {
		effects = append(effects, i18n.T(ctx, "%s for approval", waitingCallsText(ctx, used)))
	}
	return append(effects, i18n.T(ctx, "sync runs"))
}

// dependentsText lists the uses of a connector; nil if there are none.
func dependentsText(ctx context.Context, used connectors.Dependents) []string {
	var list []string
	if used.Agents > 0 {
		list = append(list, i18n.T(ctx, "Granted to %s.", agentNamesText(ctx, used)))
	}
	switch {
	case used.Calls > connectors.MaxCountedCalls:
		list = append(list, i18n.T(ctx, "Over %s calls in 30 days.", i18n.Number(ctx, connectors.MaxCountedCalls)))
	case used.Calls > 0:
		list = append(list, i18n.N(ctx, used.Calls, "%s call in 30 days.", "%s calls in 30 days."))
	}
	if used.Approvals > 0 {
		list = append(list, i18n.T(ctx, "%s for approval.", waitingCallsText(ctx, used)))
	}
	if used.Accounts > 0 {
		list = append(list, i18n.N(ctx, used.Accounts, "%s stored credential.", "%s stored credentials."))
	}
	return list
}

func waitingCallsText(ctx context.Context, used connectors.Dependents) string {
	if used.Approvals == 1 {
		return i18n.T(ctx, "1 call waiting")
	}
	return i18n.T(ctx, "%s calls waiting", i18n.Number(ctx, used.Approvals))
}

// agentNamesText names the first agents that were granted a connector, and counts the rest.
func agentNamesText(ctx context.Context, used connectors.Dependents) string {
	named := strings.Join(used.Names, ", ")
	if more := used.Agents - len(used.Names); more > 0 {
		return i18n.N(ctx, more, "%[2]s and %[1]s other agent", "%[2]s and %[1]s other agents", named)
	}
	return named
}
