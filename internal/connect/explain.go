package connect

import (
	"errors"
	"time"

	"patchbay/internal/fault"
	"patchbay/internal/oauth"
	"patchbay/internal/safehttp"
)

// Error codes that no RFC defines.
const (
	codeBlocked     = "blocked"          // by the egress rules
	codeProxy       = "egress_proxy"     // the operator's proxy failed or refused
	codeRefused     = "refused"          // by our other rules
	codeNoClient    = "client_id_needed" // an admin has to enter one
	codeUnreachable = "unreachable"
	codeStatus      = "http_status"
	codeProtocol    = "protocol"
)

// phaseAuth is the phase of failures at the authorization server.
const phaseAuth = "auth"

// toFault converts failures of an authorization server into a fault with a code and a sentence that says what
// to do. It has no remote text.
func (b *Broker) toFault(err error) *fault.Error {
	e, ok := errors.AsType[*oauth.Error](err)
	if !ok {
		return fault.As(err)
	}
	f := &fault.Error{Kind: fault.Upstream, Code: failureCode(e), Message: e.Sentence(), RetryAfter: int(e.RetryAfter / time.Second), Err: err}
	if failed, ok := errors.AsType[*safehttp.ProxyError](err); ok {
		f.Message, f.Remote = failed.Why, &fault.Remote{Phase: phaseAuth, Retryable: !failed.Forbidden()}
		return f
	}
	switch e.Kind {
	case oauth.KindNeedsClientID:
		f.Kind = fault.Conflict
		f.Message = "The authorization server doesn't let clients register themselves. Register Patchbay there with the redirect URI " +
			b.RedirectURI() + " and enter the client ID under Advanced in the connector's settings."
	case oauth.KindDenied:
		f.Kind = fault.Denied
	case oauth.KindRefused, oauth.KindProtocol:
		if e.Step == oauth.StepCallback { // sent by the browser, not by a server
			f.Kind = fault.Malformed
			f.Message += " Nothing was stored. Reconnect."
		}
		if blocked, ok := errors.AsType[*safehttp.BlockedError](err); ok {
			f.Message += " " + blocked.Error()
		}
	case oauth.KindTemporary, oauth.KindUnknownOutcome:
		if e.Step == oauth.StepExchange {
			f.Message += " Reconnect then."
		}
	}
	if f.Kind == fault.Upstream {
		f.Remote = &fault.Remote{Phase: phaseAuth, HTTPStatus: e.HTTPStatus, Retryable: e.Kind == oauth.KindTemporary}
	}
	return f
}

func failureCode(e *oauth.Error) string {
	if _, ok := errors.AsType[*safehttp.BlockedError](e); ok {
		return codeBlocked
	}
	if _, ok := errors.AsType[*safehttp.ProxyError](e); ok {
		return codeProxy
	}
	switch {
	case e.Code != "":
		return e.Code
	case e.Kind == oauth.KindNeedsClientID:
		return codeNoClient
	case e.Kind == oauth.KindRefused:
		return codeRefused
	case e.Kind == oauth.KindProtocol || e.HTTPStatus == 0 && e.Kind == oauth.KindRejected:
		return codeProtocol
	case e.HTTPStatus != 0:
		return codeStatus
	default:
		return codeUnreachable
	}
}
