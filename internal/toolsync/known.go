package toolsync

import (
	"cmp"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/mcp"
	"patchbay/internal/store"
)

// knownFor is how long a server of the modern era need not be asked what it is, unless it says that this changes sooner. (The 0 that its
// kind of answer must carry says nothing.)
const knownFor = 24 * time.Hour

// knownOf is what the server of a claim said of itself lately; nil: it is to be asked. One that fails is asked, too.
func knownOf(c store.Claim) *mcp.Known {
	if !c.Known || c.Failures > 0 || c.Connector.LastError != nil {
		return nil
	}
	return &mcp.Known{Server: mcp.ServerInfo(c.Connector.Server), Capabilities: c.Connector.Capabilities}
}

// meet notes what the server is, or that it is what was known.
func (r *run) meet(session *mcp.Session) {
	r.seen.Server, r.seen.Era = connectors.Server(session.Server()), string(session.Era())
	r.seen.Capabilities = session.Capabilities()
}

// reliesOn notes for how long the server need not be asked again: one that answers in the way of its era in all.
func (r *run) reliesOn(session *mcp.Session, list mcp.ToolList) {
	r.seen.KnownFor, r.recalled = 0, session.Recalled()
	if !r.recalled && list.Modern && session.Era() == mcp.EraModern {
		r.seen.KnownFor = min(cmp.Or(session.Fresh(), knownFor), knownFor)
	}
}
