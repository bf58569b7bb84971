package serve

import (
	"cmp"
	"context"
	"net/http"

	"patchbay/internal/mcp/revision"
	"patchbay/internal/mcp/wire"
)

// handshake answers a message of the era that begins with initialize.
func (x *exchange) handshake(kind kind, m *wire.Incoming) {
	if kind == request && x.Method == "initialize" {
		x.initialize(m)
		return
	}
	if failure := x.recognise(); failure != nil {
		x.refuse(failure)
		return
	}
	switch kind {
	case response:
		x.answered(m)
	case notification:
		x.notified(m)
	case request:
		x.handshakeRequest(m)
	}
}

// recognise finds out whom the message is from. One without a session is served as far as that goes.
func (x *exchange) recognise() *RPCError {
	if id := x.r.Header.Get(revision.HeaderSession); id != "" {
		p, failure := x.s.peer(x.who, id)
		if failure != nil {
			return failure
		}
		x.peer = *p
		return nil
	}
	x.peer.Version = cmp.Or(x.r.Header.Get(revision.HeaderVersion), revision.Unnamed)
	return nil
}

// peer is the one whose session this is.
func (s *Server) peer(who, id string) (*Peer, *RPCError) {
	p, err := s.openSession(who, id)
	if err != nil || s.ended.get(boxName(boxEnded, who, p.Session, "")) {
		return nil, refusal(http.StatusNotFound, revision.CodeInvalidRequest, "There is no such session. Send initialize for a new one.")
	}
	return p, nil
}

func (x *exchange) handshakeRequest(m *wire.Incoming) {
	switch x.Method {
	case "ping":
		x.answer("", []byte("{}"))
	case "logging/setLevel":
		x.setLevel(m)
	case "server/discover", "subscriptions/listen":
		x.refuse(MethodNotFound(x.Method))
	default:
		if failure := x.named(m); failure != nil {
			x.refuse(failure)
			return
		}
		x.level = x.s.levels.get(x.peer.Session)
		x.serve(m)
	}
}

// notified takes a notification. Nobody waits for what comes of it.
func (x *exchange) notified(m *wire.Incoming) {
	switch x.Method {
	case "notifications/initialized": // we were ready before
	case "notifications/cancelled":
		x.cancel(wire.MemberOf(m.Params, "requestId"))
	default:
		x.backend.Notified(x.r.Context(), &x.peer, x.Method, m.Params)
	}
	x.accept()
}

// accept says that there will be no answer.
func (x *exchange) accept() {
	if x.collected == nil {
		x.w.WriteHeader(http.StatusAccepted)
	}
}

// cancel ends a request of the same session, wherever it runs. Without a session nobody could tell whose request it is.
func (x *exchange) cancel(id []byte) {
	if x.peer.Session == "" || id == nil {
		return
	}
	box := boxName(boxCancel, x.who, x.peer.Session, string(id))
	if !x.s.boxes.tell(box, nil) {
		x.s.mail(x.who, box, []byte{}, briefly)
	}
}

// cancellable lets the client cancel the request, until leave is called.
func (x *exchange) cancellable(cancel context.CancelCauseFunc) (leave func()) {
	if x.peer.Session == "" {
		return func() {}
	}
	box := boxName(boxCancel, x.who, x.peer.Session, string(x.ID))
	waiting := x.s.boxes.wait(box, func([]byte) { cancel(ErrCancelled) })
	return func() { x.s.boxes.leave(box, waiting) }
}
