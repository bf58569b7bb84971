package admin

import (
	"net/http"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
)

const eventStream = "text/event-stream"

// How an event stream behaves.
const (
	keepAlive  = 15 * time.Second // comments between events, so that no proxy takes the stream for dead
	writeLimit = 10 * time.Second // for one event: a browser that does not read is let go
	checkEvery = time.Second      // how old the last look at the session may be when something is sent
)

// events streams what changes about what the page shows, as pieces of it, until the browser goes, the server stops, or the session
// ends: connectors, or with on=calls, on=tasks, on=call, on=home, on=approvals, on=changes and on=notices those. A HEAD request is told what would come,
// and opens nothing.
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
	if err := s.about(r); err != nil {
		// The answer has begun, so that nobody can be told; the browser connects again and learns what is wrong.
		h.log.DebugContext(r.Context(), "event stream ended", "tenant_id", s.actor.Tenant.ID, "error", err)
	}
	return nil
}

// about tells of what the page asked for.
func (s *stream) about(r *http.Request) error {
	tenant := s.actor.Tenant.ID
	switch query := r.URL.Query(); query.Get("on") {
	case "calls":
		calls, stop := s.h.history.Live(tenant)
		defer stop()
		return s.follow(calls, s.callsOf(readCallQuery(query)))
	case "tasks":
		calls, stop := s.h.history.Live(tenant)
		defer stop()
		return s.follow(calls, s.tasksOf(readCallQuery(query)))
	case "call":
		calls, stop := s.h.history.Live(tenant)
		defer stop()
		return s.follow(calls, s.callOf(connectors.Ref(query.Get("id"))))
	case "home":
		return s.follow(nil, s.needs())
	case "approvals":
		return s.follow(nil, s.approvals(query.Get("after")))
	case "changes":
		return s.follow(nil, s.changesOf(readChangeQuery(query)))
	case "notices":
		return s.follow(nil, s.notices(query.Get("after")))
	default:
		if err := s.page(r); err != nil {
			return err
		}
		progress, stop := s.h.syncer.Watch(tenant)
		defer stop()
		return s.run(progress)
	}
}

// page remembers which connectors the page shows: one, or a page of the list.
func (s *stream) page(r *http.Request) error {
	s.shown = readConnectorFilter(r)
	slug := r.URL.Query().Get("connector")
	if slug == "" {
		return nil
	}
	c, err := s.h.store.Tenant(s.actor.Tenant.ID).Connector(s.ctx, connectors.Ref(slug))
	if fault.Is(err, fault.NotFound) { // deleted since; the page hears of other things still
		return nil
	}
	s.shown = store.ConnectorFilter{IDs: []connectors.ConnectorID{c.ID}, Page: store.Page{Limit: 1}}
	return err
}
