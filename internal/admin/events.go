package admin

import (
	"net/http"
	"time"
)

const eventStream = "text/event-stream"

// How an event stream behaves.
const (
	keepAlive  = 15 * time.Second // comments between events, so that no proxy takes the stream for dead
	writeLimit = 10 * time.Second // for one event: a browser that does not read is let go
	checkEvery = time.Second      // how old the last look at the session may be when something is sent
)

// events streams what changes about the tenant's connectors, as pieces of the page, until the browser goes, the server
// stops, or the session ends. A HEAD request is told what would come, and opens nothing.
func (h *Handler) events(w http.ResponseWriter, r *http.Request) error {
	if r.Method == http.MethodHead {
		w.Header().Set("Content-Type", eventStream)
		return nil
	}
	leave, err := h.streams.enter(*actor(r).UserID)
	if err != nil {
		return err
	}
	defer leave()
	s, err := h.newStream(w, r)
	if err != nil {
		return err
	}
	// A connection that is used again must not keep the last event's limit.
	defer func() { _ = s.control.SetWriteDeadline(time.Time{}) }()
	progress, stop := h.syncer.Watch(s.actor.Tenant.ID)
	defer stop()
	if err := s.run(progress); err != nil {
		// The answer has begun, so that nobody can be told; the browser connects again and learns what is wrong.
		h.log.DebugContext(r.Context(), "event stream ended", "tenant_id", s.actor.Tenant.ID, "error", err)
	}
	return nil
}
