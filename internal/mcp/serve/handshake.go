package serve

import (
	"cmp"
	"context"
	"net/http"

	"patchbay/internal/mcp/revision"
	"patchbay/internal/mcp/wire"
)

func (x *exchange) serveHandshake(kind messageKind, m *wire.Incoming) {
	if kind == requestKind && x.Method == "initialize" {
		x.serveInitialize(m)
		return
	}
	if failure := x.identifyPeer(); failure != nil {
		x.sendError(failure)
		return
	}
	switch kind {
	case responseKind:
		x.handleResponse(m)
	case notificationKind:
		x.handleNotification(m)
	case requestKind:
		x.serveHandshakeRequest(m)
	}
}

// identifyPeer sets the peer by the session id, or without a session by the version header alone.
func (x *exchange) identifyPeer() *RPCError {
	if id := x.r.Header.Get(revision.HeaderSession); id != "" {
		p, failure := x.s.findPeer(x.caller, id)
		if failure != nil {
			return failure
		}
		x.peer = *p
		return nil
	}
	x.peer.Version = cmp.Or(x.r.Header.Get(revision.HeaderVersion), revision.Unnamed)
	return nil
}

// findPeer returns the peer of a session that has not ended.
func (s *Server) findPeer(caller, id string) (*Client, *RPCError) {
	p, err := s.openSession(caller, id)
	if err != nil || s.postedBoxes.Get(mailboxName(boxEnded, caller, p.Session, "")) {
		return nil, newStatusError(http.StatusNotFound, revision.CodeInvalidRequest, "No such session. Send initialize for a new one.")
	}
	return p, nil
}

func (x *exchange) serveHandshakeRequest(m *wire.Incoming) {
	switch x.Method {
	case "ping":
		x.sendResult("", []byte("{}"))
	case "logging/setLevel":
		x.setLevel(m)
	case "server/discover", "subscriptions/listen":
		x.sendError(MethodNotFound(x.Method))
	default:
		if failure := x.readName(m); failure != nil {
			x.sendError(failure)
			return
		}
		if !cacheable[x.Method] { // lists send no log messages
			x.minLevel = x.s.findLevel(x.r.Context(), x.caller, x.peer.Session)
		}
		x.serveRequest(m)
	}
}

// handleNotification handles a notification. It has no response.
func (x *exchange) handleNotification(m *wire.Incoming) {
	switch x.Method {
	case "notifications/initialized": // nothing waits for it
	case "notifications/cancelled":
		x.cancelRequest(wire.FindMember(m.Params, "requestId"))
	default:
		x.backend.HandleNotification(x.r.Context(), &x.peer, x.Method, m.Params)
	}
	x.replyAccepted()
}

// replyAccepted sends 202 without a body.
func (x *exchange) replyAccepted() {
	if x.batchReply == nil {
		x.w.WriteHeader(http.StatusAccepted)
	}
}

// cancelRequest cancels a request of the same session, in any process. Without a session the request cannot be
// identified.
func (x *exchange) cancelRequest(id []byte) {
	if x.peer.Session == "" || id == nil {
		return
	}
	box := mailboxName(boxCancel, x.caller, x.peer.Session, string(id))
	if !x.s.mailboxes.deliver(box, nil) {
		x.s.postMessage(x.caller, box, []byte{}, briefRetention)
	}
}

// watchCancellation lets notifications/cancelled cancel the request, until unwatch is called.
func (x *exchange) watchCancellation(cancel context.CancelCauseFunc) (unwatch func()) {
	if x.peer.Session == "" {
		return func() {}
	}
	box := mailboxName(boxCancel, x.caller, x.peer.Session, string(x.ID))
	waiter := x.s.mailboxes.addWaiter(box, func([]byte) { cancel(ErrCancelled) })
	return func() { x.s.mailboxes.removeWaiter(box, waiter) }
}
