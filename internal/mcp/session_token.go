package mcp

import (
	"math/rand/v2"
	"strings"
	"time"

	"patchbay/internal/mcp/revision"
)

// Token is a secret with which [Target.Resume] continues the session in another process; empty: the session has no id
// over HTTP. Many servers know a task only in the session that made it.
func (s *Session) Token() string {
	t, ok := s.currentConnection().transport.(*httpTransport)
	if !ok || t.sessionID == "" {
		return ""
	}
	return t.agreedVersion() + " " + t.sessionID
}

const (
	minResumedID = 1 << 20
	maxResumedID = 1 << 30 // some servers return ids as floats
)

// openResumed opens a connection in the session of Target.Resume, without a request. Its request ids begin at a random
// number, because other processes may use the session too. It is used once: a lost session is opened anew. nil:
// there is no such session.
func (s *Session) openResumed() *connection {
	version, id, ok := strings.Cut(s.target.Resume, " ")
	s.target.Resume = ""
	if !ok || id == "" || !revision.Handshake.Supports(version) || s.target.Transport == Stdio {
		return nil
	}
	c := s.newConnection(handshakeEra{}, EraHandshake)
	t, ok := c.transport.(*httpTransport)
	if !ok {
		return nil
	}
	t.sessionID = id
	t.keepUntil(time.Now().Add(maxKept))
	t.setVersion(version)
	c.server.ProtocolVersion = version
	s.era = EraHandshake
	s.lastID.Store(minResumedID + rand.Int64N(maxResumedID-minResumedID)) //nolint:gosec // not a secret
	return c
}

// maxKept bounds how long a session is left to its server because of a task.
const maxKept = 24 * time.Hour

// keepForTask leaves the session to the server when it is closed here, as long as the task may go on.
func (c *connection) keepForTask(task *Task) {
	t, ok := c.transport.(*httpTransport)
	if !ok || !task.IsHandshake {
		return
	}
	ttl := task.TTL
	if ttl <= 0 {
		ttl = maxKept
	}
	t.keepUntil(time.Now().Add(min(ttl, maxKept)))
}

// keepUntil prevents the deletion of the session at the server until then.
func (c *httpTransport) keepUntil(end time.Time) {
	for until := end.UnixNano(); ; {
		old := c.keptUntil.Load()
		if old >= until || c.keptUntil.CompareAndSwap(old, until) {
			return
		}
	}
}
