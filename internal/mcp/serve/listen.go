package serve

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"sync"
	"time"

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
		x.refuse(refusal(http.StatusBadRequest, revision.CodeInvalidParams, "The params must have notifications, an object."))
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

var everyList = []byte(`{"toolsListChanged":true,"promptsListChanged":true,"resourcesListChanged":true}`)

// promised is what of the wanted notifications the capabilities promise.
func promised(capabilities, wanted []byte) (f Filter) {
	var want struct {
		ToolsListChanged      bool
		PromptsListChanged    bool
		ResourcesListChanged  bool
		ResourceSubscriptions []string
	}
	var can struct {
		Tools     struct{ ListChanged bool }
		Prompts   struct{ ListChanged bool }
		Resources struct{ ListChanged, Subscribe bool }
	}
	// What cannot be read is not wanted, or not promised.
	_ = json.Unmarshal(wanted, &want)
	_ = json.Unmarshal(capabilities, &can)
	f.Tools = want.ToolsListChanged && can.Tools.ListChanged
	f.Prompts = want.PromptsListChanged && can.Prompts.ListChanged
	f.Resources = want.ResourcesListChanged && can.Resources.ListChanged
	if can.Resources.Subscribe {
		f.URIs = want.ResourceSubscriptions
	}
	return f
}

// acknowledged is the filter as the client gets to read it.
func (f Filter) acknowledged() []byte {
	told := struct {
		Tools     bool     `json:"toolsListChanged,omitempty"`
		Prompts   bool     `json:"promptsListChanged,omitempty"`
		Resources bool     `json:"resourcesListChanged,omitempty"`
		URIs      []string `json:"resourceSubscriptions,omitempty"`
	}{f.Tools, f.Prompts, f.Resources, f.URIs}
	raw, _ := json.Marshal(told) // always marshals
	return wire.Object([]wire.Member{{Name: "notifications", Value: raw}})
}

const (
	toolsChanged     = "notifications/tools/list_changed"
	promptsChanged   = "notifications/prompts/list_changed"
	resourcesChanged = "notifications/resources/list_changed"
	resourceUpdated  = "notifications/resources/updated"
)

// methods are the notifications of changed lists that pass the filter.
func (f Filter) methods() []string {
	var methods []string
	for _, method := range []string{toolsChanged, promptsChanged, resourcesChanged} {
		if f.passes(method) {
			methods = append(methods, method)
		}
	}
	return methods
}

// passes tells whether a listener is to hear of a notification.
func (f Filter) passes(method string) bool {
	switch method {
	case toolsChanged:
		return f.Tools
	case promptsChanged:
		return f.Prompts
	case resourcesChanged:
		return f.Resources
	case resourceUpdated:
		return len(f.URIs) > 0 || !f.Peer.Modern
	}
	return !f.Peer.Modern
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

// listener is somebody who waits for what we have to say. Thousands of them sit there idle: it holds what it needs, and no more.
type listener struct {
	s       *Server
	backend Backend
	filter  Filter
	id      []byte // of the subscription; nil: the handshake era has none
	begin   []byte // the first events
	last    []byte // the event that ends the stream, where we do; nil: it just ends

	mu     sync.Mutex // guards what follows
	out    writer
	stop   context.CancelFunc
	timer  *time.Timer
	closed bool
}

// run serves the listener, here or, where the connection can be taken over, on its own after it has returned.
func (l *listener) run(v *visit) {
	ctx, stop := context.WithCancel(context.WithoutCancel(v.r.Context()))
	l.stop = stop
	me, ok := l.s.listeners.join(stop)
	if !ok {
		stop()
		writeError(v.w, l.id, errShut)
		return
	}
	if conn := takeOver(v); conn != nil {
		go l.hold(ctx, conn, me)
		return
	}
	defer l.s.listeners.leave(me)
	defer context.AfterFunc(v.r.Context(), stop)()
	l.listen(ctx, openStream(v.w, v.s.opts.Stall))
}

// hold serves the listener on a connection of its own.
func (l *listener) hold(ctx context.Context, conn *connection, me *member) {
	defer l.s.listeners.leave(me)
	defer conn.close()
	go func() {
		conn.await() // ends with the connection, which is closed in the end
		l.stop()
	}()
	l.listen(ctx, conn)
}

// listen hears the backend until one of the three has enough.
func (l *listener) listen(ctx context.Context, out writer) {
	defer l.stop()
	if out.write(l.begin) != nil {
		return
	}
	l.begin = nil
	l.mu.Lock()
	l.out = out
	l.timer = time.AfterFunc(l.s.opts.KeepAlive, l.breathe)
	l.mu.Unlock()
	if err := l.backend.Listen(ctx, l.filter, l.hear); err != nil && ctx.Err() == nil {
		l.s.opts.Log.WarnContext(ctx, "listening failed", "reason", err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.timer.Stop()
	l.send(l.last)
	l.closed = true
}

// hear tells the client of a change.
func (l *listener) hear(method string, params json.RawMessage) {
	if !l.filter.passes(method) {
		return
	}
	switch {
	case l.id != nil:
		params = tagged(params, l.id)
	case !isObject(params):
		params = nil
	}
	event := message(method, params)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.send(event)
}

// breathe writes a comment, and comes back.
func (l *listener) breathe() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.send(keepAlive)
	if !l.closed {
		l.timer.Reset(l.s.opts.KeepAlive)
	}
}

// send writes, unless that failed before. mu is held.
func (l *listener) send(event []byte) {
	if l.closed || len(event) == 0 {
		return
	}
	if l.out.write(event) != nil {
		l.closed = true
		l.stop()
	}
}
