package mcp

import (
	"compress/flate"
	"compress/gzip"
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

// explain types what went wrong with one request. ctx is the request's own.
func explain(ctx context.Context, phase Phase, err error) *Error {
	if redirect, ok := errors.AsType[*redirectError](err); ok {
		return &Error{Phase: phase, Reason: ReasonRedirect, HTTPStatus: redirect.status, Detail: redirect.detail}
	}
	if detail, reason := ownError(err); reason != "" {
		// A stream that was cut may come whole the next time.
		return &Error{Phase: phase, Reason: reason, Detail: detail, Retryable: errors.Is(err, errCutStream)}
	}
	failure := &Error{Phase: phase, Err: safeCause(err)}
	if beforeHTTP(err) {
		failure.Phase = PhaseConnect
	}
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		failure.Reason, failure.Detail = ReasonUnreachable, "the request was cancelled"
	case ctx.Err() != nil || timedOut(err):
		failure.Reason, failure.Retryable = ReasonTimeout, true
	case isTLS(err):
		failure.Phase, failure.Reason = PhaseConnect, ReasonTLS
		failure.Detail = tlsDetail(err)
	case isCompression(err):
		failure.Reason, failure.Detail = ReasonProtocol, "sent compressed data that is broken"
	default:
		failure.Reason, failure.Retryable = ReasonUnreachable, !permanent(err)
	}
	return failure
}

// ownError types the errors that this package makes itself; reason is empty for others.
func ownError(err error) (detail string, reason Reason) {
	for _, known := range []error{errEmpty, errHTML, errXML, errNotJSON, errBroken, errNoReply, errCutStream} {
		if errors.Is(err, known) {
			return known.Error(), ReasonProtocol
		}
	}
	switch {
	case errors.Is(err, errTooLarge):
		return errTooLarge.Error(), ReasonTooLarge
	case errors.Is(err, errCrowded):
		return errCrowded.Error(), ReasonCrowded
	case errors.Is(err, errTooMany):
		return errTooMany.Error(), ReasonTooLarge
	case errors.Is(err, errSessionID):
		return fmt.Sprintf("sent a session id that is not 1 to %d visible ASCII characters", maxSessionIDLength), ReasonProtocol
	}
	return "", ""
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

// beforeHTTP tells whether no connection came about.
func beforeHTTP(err error) bool {
	op, ok := errors.AsType[*net.OpError](err)
	if ok && op.Op == "dial" {
		return true
	}
	_, dns := errors.AsType[*net.DNSError](err)
	return dns
}

func timedOut(err error) bool {
	timeout, ok := errors.AsType[net.Error](err)
	return ok && timeout.Timeout()
}

func isTLS(err error) bool {
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return true
	}
	if _, ok := errors.AsType[tls.RecordHeaderError](err); ok {
		return true
	}
	// crypto/tls wraps alerts so: ours are local, the server's are remote.
	if op, ok := errors.AsType[*net.OpError](err); ok && (op.Op == "remote error" || op.Op == "local error") {
		return true
	}
	return errors.Is(err, http.ErrSchemeMismatch)
}

// tlsDetail is what an admin can act on.
func tlsDetail(err error) string {
	if errors.Is(err, http.ErrSchemeMismatch) {
		return "answers in plain HTTP"
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
	return ""
}

func isCompression(err error) bool {
	_, corrupt := errors.AsType[flate.CorruptInputError](err)
	return corrupt || errors.Is(err, gzip.ErrHeader) || errors.Is(err, gzip.ErrChecksum)
}

// permanent tells whether trying again is no use: the name does not exist, or the client was told not to connect there
// (such an error says so by a method Permanent).
func permanent(err error) bool {
	if dns, ok := errors.AsType[*net.DNSError](err); ok && dns.IsNotFound {
		return true
	}
	forbidden, ok := errors.AsType[interface {
		error
		Permanent() bool
	}](err)
	return ok && forbidden.Permanent()
}
