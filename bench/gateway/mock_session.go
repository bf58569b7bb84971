package main

import (
	"crypto/rand"
	"encoding/json"
	"net/http"
	"sync"
)

// sessionTable holds the legacy sessions. Each belongs to the account that opened it.
type sessionTable struct {
	mu   sync.Mutex // guards the fields below
	open map[string]*mockSession

	opened, deleted, forgotten int64
	lost                       int64 // requests of deleted or unknown sessions
	foreign                    int64 // requests in another account's session
}

type mockSession struct {
	id, account string
	closed      chan struct{} // closed at the session's end

	mu      sync.Mutex // guards waiters
	waiters map[string]chan struct{}
}

func (s *sessionTable) openSession(account string) *mockSession {
	session := &mockSession{id: rand.Text(), account: account, closed: make(chan struct{}), waiters: map[string]chan struct{}{}}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.opened++
	s.open[session.id] = session
	return session
}

// findSession returns the session of a request, or nil.
func (s *sessionTable) findSession(r *http.Request) *mockSession {
	s.mu.Lock()
	defer s.mu.Unlock()
	session := s.open[r.Header.Get("Mcp-Session-Id")]
	switch {
	case session == nil:
		s.lost++
		return nil
	case session.account != requestAccount(r):
		s.foreign++
	}
	return session
}

// removeSession deletes a session and counts it, if it exists.
func (s *sessionTable) removeSession(session *mockSession, counter *int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if session == nil || s.open[session.id] == nil {
		return
	}
	delete(s.open, session.id)
	*counter++
	close(session.closed)
}

func (s *sessionTable) forgetSession(session *mockSession) { s.removeSession(session, &s.forgotten) }
func (s *sessionTable) deleteSession(session *mockSession) { s.removeSession(session, &s.deleted) }

func (s *sessionTable) addStats(to *mockStats) {
	s.mu.Lock()
	defer s.mu.Unlock()
	to.Opened, to.Deleted, to.Forgotten, to.Lost, to.Foreign, to.Left = s.opened, s.deleted, s.forgotten, s.lost, s.foreign, int64(len(s.open))
}

// watchCancel returns a channel that is closed when the client cancels the call; nil without a session.
func (s *mockSession) watchCancel(id json.RawMessage) (<-chan struct{}, func()) {
	if s == nil {
		return nil, func() {}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	cancelled := make(chan struct{})
	s.waiters[string(id)] = cancelled
	return cancelled, func() { s.cancelCall(id) }
}

func (s *mockSession) cancelCall(id json.RawMessage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if cancelled := s.waiters[string(id)]; cancelled != nil {
		close(cancelled)
		delete(s.waiters, string(id))
	}
}

// serveLegacy serves revision 2025-11-25.
func (m *mockServer) serveLegacy(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		m.streamOrDelete(w, r)
		return
	}
	s, err := readMessage(r)
	switch {
	case err != nil:
		m.writeError(w, http.StatusBadRequest, s.ID)
		return
	case s.Method == "initialize":
		w.Header().Set("Mcp-Session-Id", m.sessions.openSession(requestAccount(r)).id)
		writeReply(w, s.ID, []byte(`{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"mock","version":"1"}}`), false)
		return
	case r.Header.Get("Mcp-Session-Id") == "":
		http.Error(w, "begin with initialize", http.StatusBadRequest) // which tells a modern client to fall back
		return
	}
	in := m.sessions.findSession(r)
	if in == nil {
		http.Error(w, "no such session", http.StatusNotFound)
		return
	}
	switch s.Method {
	case "tools/list":
		writeReply(w, s.ID, m.tools, false)
	case "tools/call":
		m.serveCall(w, r, s, in)
	case "notifications/cancelled":
		in.cancelCall(s.Params.RequestID)
		w.WriteHeader(http.StatusAccepted)
	case "notifications/initialized":
		w.WriteHeader(http.StatusAccepted)
	default:
		m.writeError(w, http.StatusNotFound, s.ID)
	}
}

// streamOrDelete serves GET and DELETE.
func (m *mockServer) streamOrDelete(w http.ResponseWriter, r *http.Request) {
	in := m.sessions.findSession(r)
	switch {
	case in == nil:
		http.Error(w, "no such session", http.StatusNotFound)
	case r.Method == http.MethodDelete:
		m.sessions.deleteSession(in)
		w.WriteHeader(http.StatusOK)
	default:
		m.serveStream(w, r, in.closed, "")
	}
}
