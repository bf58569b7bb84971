package serve

import (
	"encoding/json"
	"strings"

	"patchbay/internal/mcp/revision"
	"patchbay/internal/mcp/wire"
)

// Client is the client as it describes itself. Its raw fields are valid as long as its request is.
type Client struct {
	Modern       bool
	Version      string          // of the protocol
	ClientInfo   json.RawMessage // an object; nil: not given
	Capabilities json.RawMessage // an object; nil: none
	Session      string          // a stable id of the session, the same in every process; empty: none, as in the modern era
}

// Can reports whether the client declared a capability, by path: "elicitation", "elicitation.url", "sampling",
// "sampling.tools", "roots", "tasks". Elicitation without a mode means forms. In the modern era tasks are an
// extension.
func (p *Client) Can(capability string) bool {
	switch {
	case capability == "elicitation.form":
		modes := p.rawCapability("elicitation")
		return isObject(modes) && (hasObject(modes, "form") || !hasObject(modes, "url"))
	case capability == "tasks" && p.Modern:
		return isObject(wire.FindMember(p.rawCapability("extensions"), revision.TasksExtension))
	}
	return isObject(p.rawCapability(capability))
}

func (p *Client) rawCapability(path string) []byte {
	raw := []byte(p.Capabilities)
	for name := range strings.SplitSeq(path, ".") {
		raw = wire.FindMember(raw, name)
	}
	return raw
}

func hasObject(object []byte, name string) bool { return isObject(wire.FindMember(object, name)) }

func isObject(raw []byte) bool { return len(raw) > 0 && raw[0] == '{' }
