package webhooks

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"syscall"

	"patchbay/internal/safehttp"
)

// explainError explains in one sentence why there is no response. It quotes nothing of the receiver.
func (p *Post) explainError(ctx context.Context, err error) string {
	if blocked, ok := errors.AsType[*safehttp.BlockedError](err); ok {
		return blocked.Error()
	}
	if failed, ok := errors.AsType[*safehttp.ProxyError](err); ok {
		return failed.Why
	}
	var netErr net.Error
	_, noName := errors.AsType[*net.DNSError](err)
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded), errors.As(err, &netErr) && netErr.Timeout():
		return fmt.Sprintf("It didn't answer within %g seconds.", p.timeout.Seconds())
	case noName:
		return "Its host name couldn't be resolved (DNS)."
	case errors.Is(err, syscall.ECONNREFUSED):
		return "It refused the connection."
	case isTLSError(err):
		return "It has no trusted certificate or doesn't speak TLS."
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET):
		return "It closed the connection without responding."
	default:
		return "It couldn't be reached or didn't respond over HTTP."
	}
}

func isTLSError(err error) bool {
	_, verification := errors.AsType[*tls.CertificateVerificationError](err)
	_, record := errors.AsType[tls.RecordHeaderError](err)
	_, authority := errors.AsType[x509.UnknownAuthorityError](err)
	_, alert := errors.AsType[tls.AlertError](err)
	return verification || record || authority || alert
}

// explainStatus explains a status other than 2xx.
func explainStatus(status int) string {
	switch {
	case status == http.StatusGone:
		return "It answered 410 Gone: no more deliveries."
	case status >= 300 && status < 400:
		return fmt.Sprintf("It answered %d, a redirect that Patchbay doesn't follow. Enter the URL it redirects to.", status)
	case http.StatusText(status) != "":
		return fmt.Sprintf("It answered %d %s.", status, http.StatusText(status))
	default:
		return fmt.Sprintf("It answered %d.", status)
	}
}
