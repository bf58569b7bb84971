package admin

import (
	"net/http"
	"strings"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/respond"
	"patchbay/internal/toolsync"
	"patchbay/internal/words"
)

// connectorSync reads a connector's tools now, and says on the page that the button stands on how it went.
func (h *Handler) connectorSync(w http.ResponseWriter, r *http.Request) error {
	f, err := readForm(r)
	if err != nil {
		return err
	}
	to := respond.OwnPath(f.text("return_to"), respond.CameFrom(r, connectorPath(string(ref(r, "id")))))
	request := toolsync.Request{Connector: ref(r, "id"), Trigger: connectors.TriggerManual, Asked: new(actor(r).Event("connector.sync", ""))}
	if agent := connectors.Ref(f.text("agent")); agent != "" {
		request.Agent = &agent
		if err := h.mayUse(r, agent); err != nil {
			return h.syncFailed(w, r, to, err)
		}
	}
	waitLong(w)
	report, err := h.syncer.Sync(r.Context(), actor(r).Tenant.ID, request)
	if err != nil {
		return h.syncFailed(w, r, to, err)
	}
	return h.respond.Back(w, r, to, respond.Flash{
		Kind: respond.Notice,
		Text: words.T(r.Context(), "Discovered %d tools from '%s'.", report.Run.Counts.Total, report.Connector.Name),
	})
}

// mayUse refuses whoever may not have an agent use its accounts.
func (h *Handler) mayUse(r *http.Request, agent connectors.Ref) error {
	a, err := h.tenant(r).Agent(r.Context(), agent)
	if err != nil {
		return err
	}
	return actor(r).RequireUse(r.Context(), h.tenant(r), a.ID)
}

// syncFailed tells why a sync failed. What is not there stays not found, and our own mistakes are logged.
func (h *Handler) syncFailed(w http.ResponseWriter, r *http.Request, to string, err error) error {
	if fault.Is(err, fault.NotFound) {
		return err
	}
	return h.respond.Back(w, r, to, respond.Flash{
		Kind: respond.Alert,
		Text: words.T(r.Context(), "Sync failed: %s", h.respond.Sentence(r, err)),
	})
}

// waitLong lifts the server's limit on the time to an answer: what follows waits for a remote server, and has bounds of
// its own.
func waitLong(w http.ResponseWriter) {
	// A writer without deadlines, as in a test, has no limit to lift.
	_ = http.NewResponseController(w).SetWriteDeadline(time.Time{})
}

// programsElsewhere hands the route to the JSON API where the caller is a program.
func (h *Handler) programsElsewhere(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if h.programSync != nil && fromProgram(r) {
			h.programSync.ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func fromProgram(r *http.Request) bool {
	accept := r.Header.Get("Accept")
	return r.Header.Get("Authorization") != "" ||
		strings.HasPrefix(r.Header.Get("Content-Type"), "application/json") ||
		strings.Contains(accept, "application/json") && !strings.Contains(accept, "text/html")
}
