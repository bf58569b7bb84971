package mcp

import (
	"net/http"
	"slices"

	"patchbay/internal/mcp/wire"
)

// request is a call that wants a reply.
type request struct {
	phase  Phase
	method string
	params []wire.Member // without _meta
	meta   []wire.Member
	name   string      // what the params are about; empty: nothing
	header http.Header // further ones of this request, where there is HTTP
	paged  bool        // the reply is a page of a tool list
	payer  [16]byte    // whose room the reply takes; zero: nobody's
}

// outgoing is the request as one message, with this _meta.
func (r request) outgoing(id int, meta []wire.Member) outgoing {
	return outgoing{phase: r.phase, method: r.method, id: id, paged: r.paged, payer: r.payer, body: wire.RequestWith(id, r.method, r.params, meta)}
}

// fewMembers is more than most _meta have: room for so many is no object of its own.
const fewMembers = 8

// without is members but those of these names, as a slice of its own.
func without(members []wire.Member, names ...string) []wire.Member {
	return appendWithout(make([]wire.Member, 0, len(members)+3), members, names...)
}

func appendWithout(kept, members []wire.Member, names ...string) []wire.Member {
	for _, m := range members {
		if !slices.Contains(names, m.Name) {
			kept = append(kept, m)
		}
	}
	return kept
}

func has(members []wire.Member, name string) bool {
	return slices.ContainsFunc(members, func(m wire.Member) bool { return m.Name == name })
}
