package oauth

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
)

// transportFailure types what went wrong with one request. sent reports whether it may have reached the server, effect
// whether it does something there.
func transportFailure(ctx context.Context, step Step, err error, sent, effect bool) *Error {
	failure := &Error{Step: step, Kind: KindTemporary, Err: safeCause(err)}
	if isForbidden(err) {
		failure.Kind, failure.Detail = KindRefused, "its address isn't allowed"
		return failure
	}
	if sent && effect {
		failure.Kind = KindUnknownOutcome
	}
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		failure.Detail = "the request was cancelled"
	case ctx.Err() != nil || isTimeout(err):
		failure.Detail = "a timeout"
	case sent:
		failure.Detail = "the connection broke mid-response"
	default:
		failure.Detail = connectDetail(err)
	}
	return failure
}

// safeCause is the part of a cause that may be logged. net/http quotes what it received in some of its errors and the
// whole URL in others, so only types that do neither pass; of the rest only the type is told.
func safeCause(err error) error {
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		err = wrapped.Err
	}
	if op, ok := errors.AsType[*net.OpError](err); ok {
		return op
	}
	if dns, ok := errors.AsType[*net.DNSError](err); ok {
		return dns
	}
	if cert, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return cert
	}
	for _, plain := range []error{
		context.DeadlineExceeded, context.Canceled, io.EOF, io.ErrUnexpectedEOF, http.ErrSchemeMismatch,
	} {
		if errors.Is(err, plain) {
			return plain
		}
	}
	return fmt.Errorf("transport error of type %T", err)
}

func connectDetail(err error) string {
	if dns, ok := errors.AsType[*net.DNSError](err); ok && dns.IsNotFound {
		return "its name doesn't resolve"
	}
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		return "its certificate authority is unknown"
	}
	if _, ok := errors.AsType[x509.HostnameError](err); ok {
		return "its certificate is for another host"
	}
	if invalid, ok := errors.AsType[x509.CertificateInvalidError](err); ok && invalid.Reason == x509.Expired {
		return "its certificate is expired or not yet valid"
	}
	if errors.Is(err, http.ErrSchemeMismatch) {
		return "answers in plain HTTP"
	}
	return "no connection"
}

func isTimeout(err error) bool {
	timeout, ok := errors.AsType[net.Error](err)
	return ok && timeout.Timeout()
}

// isForbidden reports whether the handed client refused to connect; such an error says so by a method Permanent.
func isForbidden(err error) bool {
	forbidden, ok := errors.AsType[interface {
		error
		Permanent() bool
	}](err)
	return ok && forbidden.Permanent()
}

// Sentence says what happened and what to do next, for a person. It is made of our words only.
func (e *Error) Sentence() string {
	switch e.Kind {
	case KindDead:
		if e.Step == StepExchange {
			return "The authorization server no longer accepts this code. Reconnect."
		}
		return "The authorization server ended access. Reconnect."
	case KindClient:
		return "The authorization server rejects our client. Check the client ID and secret, or reconnect to register again."
	case KindScope:
		return "The authorization server refuses these scopes. Set scopes it grants."
	case KindDenied:
		return "Access wasn't granted. Nothing was stored."
	case KindTemporary, KindUnknownOutcome:
		return "The authorization server can't be reached or failed. It may work later."
	case KindNeedsClientID:
		return "The authorization server doesn't let clients self-register. Enter a client ID."
	case KindRefused:
		return "The connection was blocked for safety: " + e.Detail + "."
	case KindRejected:
		return e.rejectedSentence()
	default:
		return "The authorization server's response isn't valid OAuth."
	}
}

func (e *Error) rejectedSentence() string {
	switch e.Code {
	case "invalid_target":
		return "The authorization server doesn't know this resource. Change the connector's resource, or send none."
	case "invalid_redirect_uri":
		return "The authorization server rejects our redirect URI. Register a client there and enter its ID."
	case "":
		return "The authorization server refused the request."
	}
	return "The authorization server refused the request (" + e.Code + ")."
}
