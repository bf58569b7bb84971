package serve

import (
	"encoding/json"
	"slices"

	"patchbay/internal/mcp/wire"
)

// logLevel is a log message's severity, from 1 (debug); 0: unknown or not set, so that every message is sent.
type logLevel int

// levelNames are the levels by severity, lowest first (RFC 5424).
var levelNames = []string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}

// levelOff suppresses all messages.
const levelOff logLevel = 100

func parseLevel(name string) logLevel { return logLevel(slices.Index(levelNames, name) + 1) }

// messageLevel returns the level in a log message's params.
func messageLevel(params json.RawMessage) logLevel {
	name, _ := wire.Unquote(wire.FindMember(params, "level"))
	return parseLevel(name)
}

// setLevel remembers a session's minimum level. It is known in this process only: others send every message.
func (x *exchange) setLevel(m *wire.Incoming) {
	name, _ := wire.Unquote(wire.FindMember(m.Params, "level"))
	wanted := parseLevel(name)
	if wanted == 0 {
		x.sendError(InvalidParams("There is no such log level."))
		return
	}
	if x.peer.Session != "" {
		x.s.logLevels.put(x.peer.Session, wanted)
	}
	x.sendResult("", []byte("{}"))
}
