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

// classifyError gives the failure of one request its phase and reason. ctx is the request's own.
func classifyError(ctx context.Context, phase Phase, err error) *Error {
	if redirect, ok := errors.AsType[*redirectError](err); ok {
		return &Error{Phase: phase, Reason: ReasonRedirect, HTTPStatus: redirect.status, Detail: redirect.detail}
	}
	if detail, reason := classifyOwnError(err); reason != "" {
		// A cut stream may be complete the next time.
		return &Error{Phase: phase, Reason: reason, Detail: detail, Retryable: errors.Is(err, errCutStream)}
	}
	failure := &Error{Phase: phase, Err: loggableCause(err)}
	if isBeforeHTTP(err) {
		failure.Phase = PhaseConnect
	}
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		failure.Reason, failure.Detail = ReasonUnreachable, "the request was cancelled"
	case ctx.Err() != nil || isTimeout(err):
		failure.Reason, failure.Retryable = ReasonTimeout, true
	case isTLS(err):
		failure.Phase, failure.Reason = PhaseConnect, ReasonTLS
		failure.Detail = tlsDetail(err)
	case isCompression(err):
		failure.Reason, failure.Detail = ReasonProtocol, "sent corrupt compressed data"
	default:
		failure.Reason, failure.Retryable = ReasonUnreachable, !isPermanent(err)
	}
	return failure
}

// classifyOwnError maps this package's own errors; reason is empty for others.
func classifyOwnError(err error) (detail string, reason Reason) {
	for _, known := range []error{errEmpty, errHTML, errXML, errNotJSON, errBroken, errNoReply, errCutStream} {
		if errors.Is(err, known) {
			return known.Error(), ReasonProtocol
		}
	}
	switch {
	case errors.Is(err, errOverLimit):
		return errOverLimit.Error(), ReasonTooLarge
	case errors.Is(err, errTooLarge):
		return errTooLarge.Error(), ReasonTooLarge
	case errors.Is(err, errMemoryLimit):
		return errMemoryLimit.Error(), ReasonMemoryLimit
	case errors.Is(err, errTooMany):
		return errTooMany.Error(), ReasonTooLarge
	case errors.Is(err, errSessionID):
		return fmt.Sprintf("sent a session ID that isn't 1–%d visible ASCII characters", maxSessionIDLength), ReasonProtocol
	}
	return "", ""
}

// loggableCause returns the part of a cause that may be logged. Some errors of net/http quote remote text or
// the whole URL, so only known types pass. Of the others only the type is named.
func loggableCause(err error) error {
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
	for _, known := range []error{
		context.DeadlineExceeded, context.Canceled, io.EOF, io.ErrUnexpectedEOF, http.ErrSchemeMismatch,
	} {
		if errors.Is(err, known) {
			return known
		}
	}
	return fmt.Errorf("transport error of type %T", err)
}

// isBeforeHTTP reports whether no connection was made.
func isBeforeHTTP(err error) bool {
	op, ok := errors.AsType[*net.OpError](err)
	if ok && op.Op == "dial" {
		return true
	}
	_, dns := errors.AsType[*net.DNSError](err)
	return dns
}

func isTimeout(err error) bool {
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
	// crypto/tls wraps alerts like this, ours as local and the server's as remote.
	if op, ok := errors.AsType[*net.OpError](err); ok && (op.Op == "remote error" || op.Op == "local error") {
		return true
	}
	return errors.Is(err, http.ErrSchemeMismatch)
}

// tlsDetail names the faults that an admin can act on.
func tlsDetail(err error) string {
	if errors.Is(err, http.ErrSchemeMismatch) {
		return "answers in plain HTTP"
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
	return ""
}

func isCompression(err error) bool {
	_, corrupt := errors.AsType[flate.CorruptInputError](err)
	return corrupt || errors.Is(err, gzip.ErrHeader) || errors.Is(err, gzip.ErrChecksum)
}

// isPermanent reports whether a retry is useless: the host name does not exist, or a policy forbids the
// connection (the error has a method Permanent).
func isPermanent(err error) bool {
	if dns, ok := errors.AsType[*net.DNSError](err); ok && dns.IsNotFound {
		return true
	}
	forbidden, ok := errors.AsType[interface {
		error
		Permanent() bool
	}](err)
	return ok && forbidden.Permanent()
}
