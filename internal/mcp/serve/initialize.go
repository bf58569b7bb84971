package serve

import (
	"patchbay/internal/mcp/revision"
	"patchbay/internal/mcp/wire"
)

// initialize begins a session: it agrees on a version, and says who we are.
func (x *exchange) initialize(m *wire.Incoming) {
	wanted, ok := wire.Unquote(wire.MemberOf(m.Params, "protocolVersion"))
	if !ok {
		x.refuse(InvalidParams("The params must have a protocolVersion."))
		return
	}
	p := &x.peer
	p.Version = revision.Handshake.Offer()
	if revision.Handshake.Knows(wanted) {
		p.Version = wanted
	}
	p.Capabilities = objectOr(wire.MemberOf(m.Params, "capabilities"))
	p.ClientInfo = objectOr(wire.MemberOf(m.Params, "clientInfo"))
	id, err := x.s.newSession(x.who, p)
	if err != nil {
		x.fail(x.r.Context(), err)
		return
	}
	d := x.backend.Describe(x.r.Context(), p)
	x.w.Header().Set(revision.HeaderSession, id)
	x.answer("", wire.Object(d.welcome(p.Version)))
}

// objectOr is raw where that is an object.
func objectOr(raw []byte) []byte {
	if isObject(raw) {
		return raw
	}
	return []byte("{}")
}

// welcome is the result of initialize.
func (d Description) welcome(version string) []wire.Member {
	members := []wire.Member{
		{Name: "protocolVersion", Value: wire.Text(version)},
		{Name: "capabilities", Value: objectOr(d.Capabilities)},
		{Name: "serverInfo", Value: d.info(version >= "2025-06-18")},
	}
	return append(members, d.instructions()...)
}

// info is who we are. titled: the version has titles.
func (d Description) info(titled bool) []byte {
	members := []wire.Member{{Name: "name", Value: wire.Text(d.Name)}, {Name: "version", Value: wire.Text(d.Version)}}
	if titled && d.Title != "" {
		members = append(members, wire.Member{Name: "title", Value: wire.Text(d.Title)})
	}
	return wire.Object(members)
}

func (d Description) instructions() []wire.Member {
	if d.Instructions == "" {
		return nil
	}
	return []wire.Member{{Name: "instructions", Value: wire.Text(d.Instructions)}}
}

// discover says the same in the modern era.
func (x *exchange) discover() {
	d := x.backend.Describe(x.r.Context(), &x.peer)
	members := []wire.Member{
		{Name: "resultType", Value: wire.Text("complete")},
		{Name: "supportedVersions", Value: supportedJSON},
		{Name: "capabilities", Value: objectOr(d.Capabilities)},
	}
	members = append(append(members, d.instructions()...),
		wire.Member{Name: "ttlMs", Value: wire.Number(0)},
		wire.Member{Name: "cacheScope", Value: wire.Text("private")},
		wire.Member{Name: "_meta", Value: wire.Object([]wire.Member{{Name: revision.MetaServer, Value: d.info(true)}})})
	x.answer("", wire.Object(members))
}
