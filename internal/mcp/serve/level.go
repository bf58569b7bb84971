package serve

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"patchbay/internal/mcp/wire"
)

// logLevel is a log message's severity, from 1 (debug); 0: unknown or not set, so that every message is sent.
type logLevel int

// levelNames are the levels by severity, lowest first (RFC 5424).
var levelNames = []string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}

// logMessage is the method of a log message.
const logMessage = "notifications/message"

// levelOff suppresses all messages.
const levelOff logLevel = 100

func parseLevel(name string) logLevel { return logLevel(slices.Index(levelNames, name) + 1) }

// messageLevel returns the level in a log message's params.
func messageLevel(params json.RawMessage) logLevel {
	name, _ := wire.Unquote(wire.FindMember(params, "level"))
	return parseLevel(name)
}

// SessionLogLevel returns the minimum level that the client of a session set; empty: none is known.
func (s *Server) SessionLogLevel(ctx context.Context, caller, session string) string {
	if level := s.findLevel(ctx, caller, session); level > 0 {
		return levelNames[level-1]
	}
	return ""
}

// IsBelowLevel reports whether the params of a log message have a lower level than the minimum, or none.
func IsBelowLevel(params json.RawMessage, minimum string) bool {
	return messageLevel(params) < max(1, parseLevel(minimum))
}

// levelRetention is how long another process can learn a level. A client's next requests come soon.
const levelRetention = 10 * time.Minute

// findLevel returns the minimum level of a session; 0: none is known. Another process may have it.
func (s *Server) findLevel(ctx context.Context, caller, session string) logLevel {
	if session == "" {
		return 0
	}
	if box := mailboxName(boxLevel, caller, session, ""); s.postedBoxes.Get(box) {
		s.postedBoxes.Put(box, false)
		for _, name := range s.fetchMessages(ctx, caller, box) {
			s.logLevels.Put(session, parseLevel(string(name)))
		}
	}
	return s.logLevels.Get(session)
}

// setLevel remembers a session's minimum level, for all processes.
func (x *exchange) setLevel(m *wire.Incoming) {
	name, _ := wire.Unquote(wire.FindMember(m.Params, "level"))
	wanted := parseLevel(name)
	if wanted == 0 {
		x.sendError(InvalidParams("No such log level."))
		return
	}
	if x.peer.Session != "" {
		x.s.logLevels.Put(x.peer.Session, wanted)
		x.s.postMessage(x.caller, mailboxName(boxLevel, x.caller, x.peer.Session, ""), []byte(name), levelRetention)
	}
	x.sendResult("", []byte("{}"))
}
