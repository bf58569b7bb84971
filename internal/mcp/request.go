package mcp

import (
	"net/http"
	"slices"

	"patchbay/internal/mcp/wire"
)

type rpcRequest struct {
	phase     Phase
	method    string
	params    []wire.Member // without _meta
	meta      []wire.Member
	name      string      // for Mcp-Name; empty: none
	header    http.Header // further HTTP headers
	paged     bool        // the reply is a page of a tool list
	memoryKey [16]byte    // MemoryLimit key of the reply; zero: not counted
}

func (r rpcRequest) toMessage(id int, meta []wire.Member) outgoingMessage {
	return outgoingMessage{phase: r.phase, method: r.method, id: id, paged: r.paged, memoryKey: r.memoryKey, body: wire.RequestWith(id, r.method, r.params, meta)}
}

// metaCapacity exceeds the members of most _meta, and is small enough for the stack.
const metaCapacity = 8

func withoutMembers(members []wire.Member, names ...string) []wire.Member {
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

func hasMember(members []wire.Member, name string) bool {
	return slices.ContainsFunc(members, func(m wire.Member) bool { return m.Name == name })
}
