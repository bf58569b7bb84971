package serve

import (
	"encoding/json"
)

// Peer is the client at the other end, as it describes itself. A request's peer is good as long as the request is.
type Peer struct {
	Modern       bool
	Version      string          // of the protocol
	ClientInfo   json.RawMessage // an object; nil: it does not say
	Capabilities json.RawMessage // an object; nil: none
	Session      string          // an id of the session, the same in every process; empty: there is none, as in the modern era
}

// Can tells whether the client declared a capability: "elicitation", "elicitation.form", "elicitation.url", "sampling", "roots", "tasks", or
// any other path into its capabilities.
func (p *Peer) Can(capability string) bool { return false }
