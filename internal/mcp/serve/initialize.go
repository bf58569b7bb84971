package serve

import (
	"patchbay/internal/mcp/revision"
	"patchbay/internal/mcp/wire"
)

// serveInitialize begins a session: it negotiates the version and describes the server.
func (x *exchange) serveInitialize(m *wire.Incoming) {
	wanted, ok := wire.Unquote(wire.FindMember(m.Params, "protocolVersion"))
	if !ok {
		x.sendError(InvalidParams("The params must have a protocolVersion."))
		return
	}
	p := &x.peer
	p.Version = revision.Handshake.Offer()
	if revision.Handshake.Supports(wanted) {
		p.Version = wanted
	}
	p.Capabilities = objectOrEmpty(wire.FindMember(m.Params, "capabilities"))
	p.ClientInfo = objectOrEmpty(wire.FindMember(m.Params, "clientInfo"))
	id, err := x.s.newSession(x.caller, p)
	if err != nil {
		x.sendBackendError(x.r.Context(), err)
		return
	}
	d := x.backend.Describe(x.r.Context(), p)
	x.w.Header().Set(revision.HeaderSession, id)
	x.sendResult("", wire.Object(d.initializeResult(p.Version)))
}

func objectOrEmpty(raw []byte) []byte {
	if isObject(raw) {
		return raw
	}
	return []byte("{}")
}

func (d Description) initializeResult(version string) []wire.Member {
	members := []wire.Member{
		{Name: "protocolVersion", Value: wire.Text(version)},
		{Name: "capabilities", Value: objectOrEmpty(d.Capabilities)},
		{Name: "serverInfo", Value: d.serverInfo(version >= "2025-06-18")},
	}
	return append(members, d.instructionsMember()...)
}

// serverInfo returns the serverInfo object. withTitle: the version has titles.
func (d Description) serverInfo(withTitle bool) []byte {
	members := []wire.Member{{Name: "name", Value: wire.Text(d.Name)}, {Name: "version", Value: wire.Text(d.Version)}}
	if withTitle && d.Title != "" {
		members = append(members, wire.Member{Name: "title", Value: wire.Text(d.Title)})
	}
	return wire.Object(members)
}

func (d Description) instructionsMember() []wire.Member {
	if d.Instructions == "" {
		return nil
	}
	return []wire.Member{{Name: "instructions", Value: wire.Text(d.Instructions)}}
}

// serveDiscover answers server/discover, the modern era's initialize.
func (x *exchange) serveDiscover() {
	d := x.backend.Describe(x.r.Context(), &x.peer)
	members := []wire.Member{
		{Name: "resultType", Value: wire.Text("complete")},
		{Name: "supportedVersions", Value: supportedJSON},
		{Name: "capabilities", Value: objectOrEmpty(d.Capabilities)},
	}
	members = append(append(members, d.instructionsMember()...),
		wire.Member{Name: "ttlMs", Value: wire.Number(0)},
		wire.Member{Name: "cacheScope", Value: wire.Text("private")},
		wire.Member{Name: "_meta", Value: wire.Object([]wire.Member{{Name: revision.MetaServer, Value: d.serverInfo(true)}})})
	x.sendResult("", wire.Object(members))
}
