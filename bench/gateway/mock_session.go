package main

import (
	"crypto/rand"
	"encoding/json"
	"net/http"
	"sync"
)

// sessions are those of the handshake era. Each belongs to the account that opened it.
type sessions struct {
	mu   sync.Mutex // guards what follows
	open map[string]*session

	opened, deleted, forgotten int64
	lost                       int64 // requests of sessions that were thrown away, or never were
	foreign                    int64 // requests in another account's session
}

// session is one client's.
type session struct {
	id, account string
	over        chan struct{} // closed when it has ended

	mu      sync.Mutex // guards waiting
	waiting map[string]chan struct{}
}

func (s *sessions) begin(account string) *session {
	one := &session{id: rand.Text(), account: account, over: make(chan struct{}), waiting: map[string]chan struct{}{}}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.opened++
	s.open[one.id] = one
	return one
}

// find is the session of a request; nil: there is none.
func (s *sessions) find(r *http.Request) *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	one := s.open[r.Header.Get("Mcp-Session-Id")]
	switch {
	case one == nil:
		s.lost++
		return nil
	case one.account != account(r):
		s.foreign++
	}
	return one
}

// end takes a session away, and tells whether it was there.
func (s *sessions) end(one *session, counter *int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if one == nil || s.open[one.id] == nil {
		return
	}
	delete(s.open, one.id)
	*counter++
	close(one.over)
}

func (s *sessions) forget(one *session) { s.end(one, &s.forgotten) }
func (s *sessions) drop(one *session)   { s.end(one, &s.deleted) }

func (s *sessions) tell(to *mockStats) {
	s.mu.Lock()
	defer s.mu.Unlock()
	to.Opened, to.Deleted, to.Forgotten, to.Lost, to.Foreign, to.Left = s.opened, s.deleted, s.forgotten, s.lost, s.foreign, int64(len(s.open))
}

// await is closed when the client cancels a call; never where there is no session.
func (s *session) await(id json.RawMessage) (<-chan struct{}, func()) {
	if s == nil {
		return nil, func() {}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	cancelled := make(chan struct{})
	s.waiting[string(id)] = cancelled
	return cancelled, func() { s.cancel(id) }
}

func (s *session) cancel(id json.RawMessage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if cancelled := s.waiting[string(id)]; cancelled != nil {
		close(cancelled)
		delete(s.waiting, string(id))
	}
}

// handshake answers in the era of sessions.
func (m *mock) handshake(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		m.holdOrEnd(w, r)
		return
	}
	s, err := heard(r)
	switch {
	case err != nil:
		m.refuse(w, http.StatusBadRequest, s.ID)
		return
	case s.Method == "initialize":
		w.Header().Set("Mcp-Session-Id", m.sessions.begin(account(r)).id)
		reply(w, s.ID, []byte(`{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"mock","version":"1"}}`), false)
		return
	case r.Header.Get("Mcp-Session-Id") == "":
		http.Error(w, "begin with initialize", http.StatusBadRequest) // as a client of the other era finds out
		return
	}
	in := m.sessions.find(r)
	if in == nil {
		http.Error(w, "no such session", http.StatusNotFound)
		return
	}
	switch s.Method {
	case "tools/list":
		reply(w, s.ID, m.tools, false)
	case "tools/call":
		m.call(w, r, s, in)
	case "notifications/cancelled":
		in.cancel(s.Params.RequestID)
		w.WriteHeader(http.StatusAccepted)
	case "notifications/initialized":
		w.WriteHeader(http.StatusAccepted)
	default:
		m.refuse(w, http.StatusNotFound, s.ID)
	}
}

// holdOrEnd is what GET and DELETE do.
func (m *mock) holdOrEnd(w http.ResponseWriter, r *http.Request) {
	in := m.sessions.find(r)
	switch {
	case in == nil:
		http.Error(w, "no such session", http.StatusNotFound)
	case r.Method == http.MethodDelete:
		m.sessions.drop(in)
		w.WriteHeader(http.StatusOK)
	default:
		m.listen(w, r, in.over, "")
	}
}
