package connectors

import (
	"errors"
	"net/http"
	"strings"

	"patchbay/internal/admin/shell"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/i18n"
	"patchbay/internal/respond"
	"patchbay/internal/store"
	"patchbay/internal/toolsync"
)

// connectorSync syncs a connector now, and shows the result on the page with the button.
func (h *Handler) connectorSync(w http.ResponseWriter, r *http.Request) error {
	f, err := shell.ReadForm(r)
	if err != nil {
		return err
	}
	to := respond.OwnPath(f.Text("return_to"), respond.CameFrom(r, shell.ConnectorPath(string(shell.PathRef(r, "id")))))
	request := toolsync.Request{Connector: shell.PathRef(r, "id"), Trigger: connectors.TriggerManual, AuditEvent: new(shell.Actor(r).Event("connector.sync", ""))}
	if agent := connectors.Ref(f.Text("agent")); agent != "" {
		request.Agent = &agent
		if err := h.checkAgentUse(r, agent); err != nil {
			return h.renderSyncError(w, r, to, err)
		}
	}
	shell.ClearWriteDeadline(w)
	report, err := h.Syncer.Sync(r.Context(), shell.Actor(r).Tenant.ID, request)
	if err != nil {
		if fault.As(err).Type == store.TypeSyncCancelled { // the page of the cancellation says so
			return respond.See(w, r, to)
		}
		return h.renderSyncError(w, r, to, err)
	}
	return h.Respond.Back(w, r, to, respond.Flash{
		Kind: respond.Notice,
		Text: i18n.T(r.Context(), "Discovered %d tools from '%s'.", report.Run.Counts.Total, report.Connector.Name),
	})
}

// checkAgentUse returns an error if the person may not use the agent's accounts.
func (h *Handler) checkAgentUse(r *http.Request, agent connectors.Ref) error {
	return h.TenantStore(r).Snapshot(r.Context(), func(tx *store.Tenant) error {
		a, err := tx.Agents().Get(r.Context(), agent)
		if err != nil {
			return err
		}
		return shell.Actor(r).RequireUse(r.Context(), tx.Accounts(), a.ID)
	})
}

// renderSyncError shows why a sync failed. NotFound stays a 404, and internal errors are logged.
func (h *Handler) renderSyncError(w http.ResponseWriter, r *http.Request, to string, err error) error {
	return h.renderServerError(w, r, to, err, func(why string) string { return i18n.T(r.Context(), "Sync failed: %s", why) })
}

// renderPingError shows why a ping failed.
func (h *Handler) renderPingError(w http.ResponseWriter, r *http.Request, to string, err error) error {
	return h.renderServerError(w, r, to, err, func(why string) string { return i18n.T(r.Context(), "Ping failed: %s", why) })
}

func (h *Handler) renderServerError(w http.ResponseWriter, r *http.Request, to string, err error, message func(why string) string) error {
	if fault.Is(err, fault.NotFound) {
		return err
	}
	flash := respond.Flash{Kind: respond.Alert, Text: message(h.Respond.Sentence(r, err))}
	if f, ok := errors.AsType[*fault.Error](err); ok {
		flash.Said = connectors.UpstreamOf(f.Remote)
	}
	return h.Respond.Back(w, r, to, flash)
}

// RouteProgramsToAPI passes a program's request to the JSON API.
func (h *Handler) RouteProgramsToAPI(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if h.ProgramSync != nil && isFromProgram(r) {
			h.ProgramSync.ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func isFromProgram(r *http.Request) bool {
	accept := r.Header.Get("Accept")
	return r.Header.Get("Authorization") != "" ||
		strings.HasPrefix(r.Header.Get("Content-Type"), "application/json") ||
		strings.Contains(accept, "application/json") && !strings.Contains(accept, "text/html")
}
