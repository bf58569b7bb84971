package serve

import "sync"

// sessionListeners are the open streams of GETs by session. The zero value has none.
type sessionListeners struct {
	mu        sync.Mutex // guards bySession and its values
	bySession map[string]*openListeners
}

// openListeners are the streams of one session.
type openListeners struct {
	listeners []*listener // oldest first
	unwatch   func()      // ends the watch for requests from other processes
}

func sessionListenerKey(caller, session string) string { return caller + "\x00" + session }

// addListener lets requests be sent on the listener's stream until remove. Listeners without a session receive none. watch is
// called for the first one of a session.
func (s *sessionListeners) addListener(l *listener, watch func(caller, session string) (unwatch func())) (remove func()) {
	if l.filter.Peer.Session == "" {
		return func() {}
	}
	key := sessionListenerKey(l.caller, l.filter.Peer.Session)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.bySession == nil {
		s.bySession = map[string]*openListeners{}
	}
	open := s.bySession[key]
	if open == nil {
		open = &openListeners{unwatch: watch(l.caller, l.filter.Peer.Session)}
		s.bySession[key] = open
	}
	open.listeners = append(open.listeners, l)
	return func() { s.removeListener(key, l) }
}

func (s *sessionListeners) removeListener(key string, l *listener) {
	s.mu.Lock()
	defer s.mu.Unlock()
	open := s.bySession[key]
	var others []*listener
	for _, other := range open.listeners {
		if other != l {
			others = append(others, other)
		}
	}
	if open.listeners = others; len(others) == 0 {
		open.unwatch()
		delete(s.bySession, key)
	}
}

// findListener returns the newest listener of a session: an older one may be a connection that broke. nil: none.
func (s *sessionListeners) findListener(caller, session string) *listener {
	s.mu.Lock()
	defer s.mu.Unlock()
	open := s.bySession[sessionListenerKey(caller, session)]
	if open == nil {
		return nil
	}
	return open.listeners[len(open.listeners)-1]
}

// sendRequest sends a request on the listener's stream. ok: it was written; done is closed when the stream ends.
func (l *listener) sendRequest(message []byte) (done <-chan struct{}, ok bool) {
	if l == nil {
		return nil, false
	}
	b := beginEvent(make([]byte, 0, len(message)+64), "")
	from := len(b)
	event := endEvent(append(b, message...), from)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.writeEvent(event)
	if l.closed {
		return nil, false
	}
	return l.done, true
}
