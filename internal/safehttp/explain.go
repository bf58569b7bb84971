package safehttp

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"
	"time"
)

// Explain explains in one sentence why there is no response to a request of the client with a timeout. It quotes nothing of
// the receiver.
func Explain(ctx context.Context, err error, timeout time.Duration) string {
	switch why := explainConnection(ctx, err, timeout); {
	case why != "":
		return why
	case isClosed(err):
		return "It closed the connection without responding."
	default:
		return "It couldn't be reached or didn't respond over HTTP."
	}
}

// ExplainTLS is Explain for a connection of DialTLS.
func ExplainTLS(ctx context.Context, err error, timeout time.Duration) string {
	switch why := explainConnection(ctx, err, timeout); {
	case why != "":
		return why
	case isClosed(err):
		return "It closed the connection before it had read everything."
	default:
		return "It couldn't be reached."
	}
}

// explainConnection explains failures that have the same words in all protocols; empty: another failure.
func explainConnection(ctx context.Context, err error, timeout time.Duration) string {
	if blocked, ok := errors.AsType[*BlockedError](err); ok {
		return blocked.Error()
	}
	if failed, ok := errors.AsType[*ProxyError](err); ok {
		return failed.Why
	}
	var netErr net.Error
	_, noName := errors.AsType[*net.DNSError](err)
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded), errors.As(err, &netErr) && netErr.Timeout():
		return fmt.Sprintf("It didn't answer within %g seconds.", timeout.Seconds())
	case noName:
		return "Its host name couldn't be resolved (DNS)."
	case errors.Is(err, syscall.ECONNREFUSED):
		return "It refused the connection."
	case isTLSError(err):
		return "It has no trusted certificate or doesn't speak TLS."
	default:
		return ""
	}
}

// isClosed reports whether the receiver closed the connection.
func isClosed(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

func isTLSError(err error) bool {
	_, verification := errors.AsType[*tls.CertificateVerificationError](err)
	_, record := errors.AsType[tls.RecordHeaderError](err)
	_, authority := errors.AsType[x509.UnknownAuthorityError](err)
	_, alert := errors.AsType[tls.AlertError](err)
	return verification || record || authority || alert
}
