package serve

import (
	"net/http"
	"slices"

	"patchbay/internal/mcp/revision"
	"patchbay/internal/mcp/wire"
)

// subscribe opens the stream of a listener of the modern era (2026-07-28, "Subscriptions").
func (x *exchange) subscribe(m *wire.Incoming) {
	if !x.takesStream {
		x.refuse(refusal(http.StatusNotAcceptable, revision.CodeInvalidRequest, "Accept text/event-stream."))
		return
	}
	wanted := wire.MemberOf(m.Params, "notifications")
	if !isObject(wanted) {
		x.refuse(InvalidParams("The params must have notifications, an object."))
		return
	}
	peer := &Peer{
		Modern: true, Version: x.peer.Version,
		ClientInfo: slices.Clone(x.peer.ClientInfo), Capabilities: slices.Clone(x.peer.Capabilities),
	}
	d := x.backend.Describe(x.r.Context(), &x.peer)
	filter := promised(d.Capabilities, wanted)
	filter.Peer = peer
	id := slices.Clone(x.ID)
	l := &listener{s: x.s, backend: x.backend, filter: filter, id: id}
	l.begin = message("notifications/subscriptions/acknowledged", tagged(filter.acknowledged(), id))
	l.last = answerTo(id, tagged(completeResult, id))
	l.run(&x.visit)
}

var completeResult = []byte(`{"resultType":"complete"}`)

// listenID is the id of the one event with an id on a stream of what we have to say: who comes back with it may have missed anything.
const listenID = "listen"

// listenLegacy opens that stream in the handshake era. again: the client had one before.
func (v *visit) listenLegacy(p *Peer, again bool) {
	l := &listener{s: v.s, backend: v.backend}
	l.filter = promised(v.backend.Describe(v.r.Context(), p).Capabilities, everyList)
	l.filter.Peer = p
	if primes(p.Version) {
		l.begin = []byte("id: " + listenID + "\nretry: 1000\ndata: \n\n")
	} else {
		l.begin = keepAlive
	}
	if again {
		for _, method := range l.filter.methods() {
			l.begin = append(l.begin[:len(l.begin):len(l.begin)], message(method, nil)...)
		}
	}
	l.run(v)
}

// message is a notification as an event.
func message(method string, params []byte) []byte {
	b := beginEvent(make([]byte, 0, len(method)+len(params)+80), "")
	from := len(b)
	return endEvent(append(b, wire.Notification(method, params)...), from)
}

func answerTo(id, result []byte) []byte {
	b := beginEvent(make([]byte, 0, len(id)+len(result)+80), "")
	from := len(b)
	return endEvent(append(b, wire.Result(id, result)...), from)
}

// tagged is params, or a result, with the id of the subscription that it belongs to.
func tagged(params, id []byte) []byte {
	tag := append(append([]byte(`"`+revision.MetaSubscription+`":`), id...), ',')
	params = objectOr(params)
	from, to := wire.SpanOf(params, "_meta")
	if from != to && isObject(params[from:to]) {
		return slices.Concat(params[:from], appendResult(nil, string(tag), params[from:to]), params[to:])
	}
	meta := append(append([]byte(`"_meta":`), appendResult(nil, string(tag), []byte("{}"))...), ',')
	return appendResult(nil, string(meta), params)
}
