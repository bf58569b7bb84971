package events

import (
	"net/http"
	"time"

	callpages "patchbay/internal/admin/calls"
	connectorpages "patchbay/internal/admin/connectors"
	"patchbay/internal/admin/shell"
	toolpages "patchbay/internal/admin/tools"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
)

// Limits of open event streams. Each holds a connection and queries the database every few seconds.
const (
	maxStreams       = 500 // per process, unless Options says otherwise
	maxPersonStreams = 10  // per person; each tab has one
)

const keepAliveInterval = 15 * time.Second // comment lines between events, so that proxies keep the connection open

// streamEvents streams changes of the page's content as HTML fragments, until the browser disconnects, the
// server stops, or the session ends. The query parameter on is frame, calls, tasks, call, home, approvals, changes or
// notices; without it the stream is about connectors. Every stream keeps the counts of the frame current; with once, it
// sends them and ends. HEAD sends the headers only.
func (h *Handler) streamEvents(w http.ResponseWriter, r *http.Request) error {
	if r.Method == http.MethodHead {
		w.Header().Set("Content-Type", shell.EventStreamType)
		return nil
	}
	release, err := h.acquireStream(*shell.Actor(r).UserID)
	if err != nil {
		return err
	}
	defer release()
	s, err := h.newStream(w, r)
	if err != nil {
		return err
	}
	defer s.events.Close()
	if err := s.serveTopic(r); err != nil {
		// The response has begun, so the error cannot be sent. The browser reconnects and gets it then.
		h.Log.DebugContext(r.Context(), "event stream ended", "tenant_id", s.actor.Tenant.ID, "error", err)
	}
	return nil
}

// serveTopic runs the stream that the page asked for.
func (s *stream) serveTopic(r *http.Request) error {
	tenant := s.actor.Tenant.ID
	switch query := r.URL.Query(); query.Get("on") {
	case "frame":
		if query.Has("once") {
			return s.sendBadges()
		}
		return s.pollUpdates(nil, func() error { return nil })
	case "calls":
		calls, stop := s.h.History.Subscribe(tenant)
		defer stop()
		return s.pollUpdates(calls, s.callListUpdates(callpages.ReadCallQuery(query)))
	case "tasks":
		calls, stop := s.h.History.Subscribe(tenant)
		defer stop()
		return s.pollUpdates(calls, s.taskListUpdates(callpages.ReadCallQuery(query)))
	case "call":
		calls, stop := s.h.History.Subscribe(tenant)
		defer stop()
		return s.pollUpdates(calls, s.callUpdates(connectors.Ref(query.Get("id"))))
	case "home":
		s.announces = false
		return s.pollUpdates(nil, s.needsUpdates(query.Has("steps")))
	case "approvals":
		s.announces = false
		return s.pollUpdates(nil, s.approvalUpdates(query.Get("after"), query.Get("id")))
	case "changes":
		return s.pollUpdates(nil, s.changeListUpdates(toolpages.ReadChangeQuery(query)))
	case "notices":
		s.announces = false
		needs, notices := s.needsUpdates(query.Has("steps")), s.noticeUpdates(query.Get("after"))
		return s.pollUpdates(nil, func() error {
			if err := needs(); err != nil {
				return err
			}
			return notices()
		})
	default:
		if err := s.loadPage(r); err != nil {
			return err
		}
		progress, stop := s.h.Syncer.Watch(tenant)
		defer stop()
		return s.run(progress)
	}
}

// loadPage sets the connectors that the page shows: one, or a page of the list.
func (s *stream) loadPage(r *http.Request) error {
	s.filter = connectorpages.ReadConnectorFilter(r)
	slug := r.URL.Query().Get("connector")
	if slug == "" {
		return nil
	}
	c, err := s.h.Store.Tenant(s.actor.Tenant.ID).Connectors().Get(s.ctx, connectors.Ref(slug))
	if fault.Is(err, fault.NotFound) { // deleted since; the stream still sends badges
		return nil
	}
	s.filter = store.ConnectorFilter{IDs: []connectors.ConnectorID{c.ID}, Page: store.Page{Limit: 1}}
	return err
}
