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
		failure.Kind, failure.Detail = KindRefused, "its address is one that may not be contacted"
		return failure
	}
	if sent && effect {
		failure.Kind = KindUnknownOutcome
	}
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		failure.Detail = "the request was cancelled"
	case ctx.Err() != nil || isTimeout(err):
		failure.Detail = "no whole answer in time"
	case sent:
		failure.Detail = "the connection broke before the answer was whole"
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
		return "its name does not exist"
	}
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		return "its certificate is signed by an unknown authority"
	}
	if _, ok := errors.AsType[x509.HostnameError](err); ok {
		return "its certificate is for another host"
	}
	if invalid, ok := errors.AsType[x509.CertificateInvalidError](err); ok && invalid.Reason == x509.Expired {
		return "its certificate has expired or is not valid yet"
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
			return "The authorization server does not accept this answer any more. Connect again."
		}
		return "The authorization server has ended this access. Connect again."
	case KindClient:
		return "The authorization server does not accept our client. Check the client id and secret, or connect again to register anew."
	case KindScope:
		return "The authorization server refuses the requested scopes. Set the connector's scopes to ones that it grants."
	case KindDenied:
		return "The access was not granted. Nothing was stored."
	case KindTemporary, KindUnknownOutcome:
		return "The authorization server could not be reached or did not answer properly. It may work later."
	case KindNeedsClientID:
		return "The authorization server does not let clients register themselves. Enter a client id for this connector."
	case KindRefused:
		return "The connection was refused for safety: " + e.Detail + "."
	case KindRejected:
		return e.rejectedSentence()
	default:
		return "The authorization server answered with something that is not OAuth."
	}
}

func (e *Error) rejectedSentence() string {
	switch e.Code {
	case "invalid_target":
		return "The authorization server does not know this resource. Set the connector's resource, or set it to nothing to send none."
	case "invalid_redirect_uri":
		return "The authorization server does not accept our redirect address. Register a client there and enter its id."
	case "":
		return "The authorization server refused the request."
	}
	return "The authorization server refused the request (" + e.Code + ")."
}
