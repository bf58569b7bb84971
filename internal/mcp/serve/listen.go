package serve

import (
	"net/http"
	"slices"

	"patchbay/internal/mcp/revision"
	"patchbay/internal/mcp/wire"
)

// serveListen opens the stream of a modern listener (2026-07-28, "Subscriptions").
func (x *exchange) serveListen(m *wire.Incoming) {
	if !x.acceptsStream {
		x.sendError(newStatusError(http.StatusNotAcceptable, revision.CodeInvalidRequest, "Accept text/event-stream."))
		return
	}
	wanted := wire.FindMember(m.Params, "notifications")
	if !isObject(wanted) {
		x.sendError(InvalidParams("The params must have notifications, an object."))
		return
	}
	client := &Client{
		Modern: true, Version: x.peer.Version,
		ClientInfo: slices.Clone(x.peer.ClientInfo), Capabilities: slices.Clone(x.peer.Capabilities),
	}
	d := x.backend.Describe(x.r.Context(), &x.peer)
	filter := newFilter(d.Capabilities, wanted)
	filter.Peer = client
	id := slices.Clone(x.ID)
	l := &listener{s: x.s, backend: x.backend, caller: x.caller, filter: filter, id: id}
	l.firstEvents = notificationEvent("notifications/subscriptions/acknowledged", withSubscriptionID(filter.acknowledgedParams(), id))
	l.lastEvent = resultEvent(id, withSubscriptionID(completeResult, id))
	l.run(&x.httpRequest)
}

var completeResult = []byte(`{"resultType":"complete"}`)

// listenID is the id of the priming event on a listener's stream. A client that reconnects with it may have
// missed anything.
const listenID = "listen"

// serveLegacyListen opens a listener's stream of the handshake era. resumed: the client had one before, and is
// told that every list changed.
func (r *httpRequest) serveLegacyListen(p *Client, resumed bool) {
	l := &listener{s: r.s, backend: r.backend, caller: r.caller}
	l.filter = newFilter(r.backend.Describe(r.r.Context(), p).Capabilities, allListChanges)
	l.filter.Peer = p
	if hasPrimingEvent(p.Version) {
		l.firstEvents = []byte("id: " + listenID + "\nretry: 1000\ndata: \n\n")
	} else {
		l.firstEvents = keepAlive
	}
	if resumed {
		for _, method := range l.filter.listMethods() {
			l.firstEvents = append(l.firstEvents[:len(l.firstEvents):len(l.firstEvents)], notificationEvent(method, nil)...)
		}
	}
	l.run(r)
}

func notificationEvent(method string, params []byte) []byte {
	b := beginEvent(make([]byte, 0, len(method)+len(params)+80), "")
	from := len(b)
	return endEvent(append(b, wire.Notification(method, params)...), from)
}

func resultEvent(id, result []byte) []byte {
	b := beginEvent(make([]byte, 0, len(id)+len(result)+80), "")
	from := len(b)
	return endEvent(append(b, wire.Result(id, result)...), from)
}

// withSubscriptionID inserts the subscription's id into _meta of params or of a result.
func withSubscriptionID(params, id []byte) []byte {
	tag := append(append([]byte(`"`+revision.MetaSubscription+`":`), id...), ',')
	params = objectOrEmpty(params)
	from, to := wire.FindMemberSpan(params, "_meta")
	if from != to && isObject(params[from:to]) {
		return slices.Concat(params[:from], appendResult(nil, string(tag), params[from:to]), params[to:])
	}
	meta := append(append([]byte(`"_meta":`), appendResult(nil, string(tag), []byte("{}"))...), ',')
	return appendResult(nil, string(meta), params)
}
