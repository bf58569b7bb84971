package serve

import (
	"encoding/json"
	"slices"

	"patchbay/internal/mcp/wire"
)

// level is how much a log message matters; 0: none that is known, and every message.
type level int

// levels by name, from the least on.
var levelNames = []string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}

// levelOff is above all of them.
const levelOff level = 100

func levelOf(name string) level { return level(slices.Index(levelNames, name) + 1) }

// levelIn is the one of a log message.
func levelIn(params json.RawMessage) level {
	name, _ := wire.Unquote(wire.MemberOf(params, "level"))
	return levelOf(name)
}

// setLevel remembers which messages a session wants. Other processes do not know, and send all.
func (x *exchange) setLevel(m *wire.Incoming) {
	name, _ := wire.Unquote(wire.MemberOf(m.Params, "level"))
	wanted := levelOf(name)
	if wanted == 0 {
		x.refuse(InvalidParams("There is no such log level."))
		return
	}
	if x.peer.Session != "" {
		x.s.levels.put(x.peer.Session, wanted)
	}
	x.answer("", []byte("{}"))
}
