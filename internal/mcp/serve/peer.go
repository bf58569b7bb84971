package serve

import (
	"encoding/json"
	"strings"

	"patchbay/internal/mcp/revision"
	"patchbay/internal/mcp/wire"
)

// Peer is the client at the other end, as it describes itself. Its raw parts are good as long as its request is.
type Peer struct {
	Modern       bool
	Version      string          // of the protocol
	ClientInfo   json.RawMessage // an object; nil: it does not say
	Capabilities json.RawMessage // an object; nil: none
	Session      string          // an id of the session, the same in every process; empty: there is none, as in the modern era
}

// Can tells whether the client declared a capability, by its path: "elicitation", "elicitation.url", "sampling", "sampling.tools",
// "roots", "tasks". Elicitation without a mode is that by forms, and tasks are an extension in the modern era.
func (p *Peer) Can(capability string) bool {
	switch {
	case capability == "elicitation.form":
		modes := p.capability("elicitation")
		return isObject(modes) && (has(modes, "form") || !has(modes, "url"))
	case capability == "tasks" && p.Modern:
		return isObject(wire.MemberOf(p.capability("extensions"), revision.TasksExtension))
	}
	return isObject(p.capability(capability))
}

func (p *Peer) capability(path string) []byte {
	raw := []byte(p.Capabilities)
	for name := range strings.SplitSeq(path, ".") {
		raw = wire.MemberOf(raw, name)
	}
	return raw
}

func has(object []byte, name string) bool { return isObject(wire.MemberOf(object, name)) }

func isObject(raw []byte) bool { return len(raw) > 0 && raw[0] == '{' }
