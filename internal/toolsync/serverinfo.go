package toolsync

import (
	"cmp"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/mcp"
	"patchbay/internal/store"
)

// maxServerInfoAge bounds the use of cached server info of the modern era, unless the server states a shorter
// time. (The mandatory 0 of its results states none.)
const maxServerInfoAge = 24 * time.Hour

// cachedServerInfo returns the server info of an earlier sync; nil: request it. It is not used after a failure.
func cachedServerInfo(c store.Claim) *mcp.CachedServerInfo {
	if !c.Known || c.Failures > 0 || c.Connector.LastError != nil {
		return nil
	}
	return &mcp.CachedServerInfo{Server: mcp.ServerInfo(c.Connector.Server), Capabilities: c.Connector.Capabilities}
}

func (r *run) recordServer(session *mcp.Session) {
	r.observation.Server, r.observation.Era = connectors.Server(session.Server()), string(session.Era())
	r.observation.Capabilities = session.Capabilities()
	r.icon = readIcon(session)
}

// recordServerInfoTTL records how long the server info may be cached. Only servers that follow one era in all
// responses qualify.
func (r *run) recordServerInfoTTL(session *mcp.Session, list mcp.ToolList) {
	r.observation.KnownFor, r.usedCachedInfo = 0, session.UsesCachedInfo()
	if !r.usedCachedInfo && list.Modern && session.Era() == mcp.EraModern {
		r.observation.KnownFor = min(cmp.Or(session.InfoTTL(), maxServerInfoAge), maxServerInfoAge)
	}
}
