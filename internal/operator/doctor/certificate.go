package doctor

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"patchbay/internal/config"
	"patchbay/internal/safehttp"
)

// minValidity is how long a certificate should still be valid: automatic renewal takes place a month before.
const minValidity = 14 * 24 * time.Hour

// checkCertificate requests the public base URL and checks its certificate. An unreachable URL is no problem,
// because it may be reachable from elsewhere. roots, if any, replace the system's.
func (r *report) checkCertificate(ctx context.Context, server config.Server, roots *x509.CertPool) {
	const what = "certificate"
	addr, err := net.ResolveTCPAddr("tcp", server.Addr)
	if err != nil {
		return // checkBaseURL reports it
	}
	base := server.BaseURL(addr)
	if base.Scheme != "https" {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	res, err := r.getThroughAddress(ctx, base.JoinPath("healthz").String(), net.JoinHostPort(base.Hostname(), portOr443(base.Port())), roots)
	var unknown x509.UnknownAuthorityError
	var elsewhere x509.HostnameError
	invalid, isInvalid := errors.AsType[x509.CertificateInvalidError](err)
	switch {
	case isInvalid && invalid.Reason == x509.Expired:
		r.reportProblem(what, "%s has a certificate valid from %s to %s: browsers and agents reject it. Renew it where TLS terminates, and check this machine's clock.",
			base.Host, formatDay(invalid.Cert.NotBefore), formatDay(invalid.Cert.NotAfter))
	case errors.As(err, &elsewhere):
		r.reportProblem(what, "%s has a certificate for other names: browsers and agents reject it. Install one for %s where TLS terminates, or fix PATCHBAY_BASE_URL.", base.Host, base.Hostname())
	case errors.As(err, &unknown):
		r.reportNote(what, "%s has a certificate from an authority that this machine doesn't trust. Browsers and agents must trust it. If the authority is public, the intermediate certificates are missing.", base.Host)
	case isInvalid:
		r.reportProblem(what, "%s has an invalid certificate: %v. Replace it where TLS terminates.", base.Host, invalid)
	case err != nil:
		r.reportNote(what, "%s can't be reached from this machine (%v). If people can reach it, ignore this.", base.Host, errors.Unwrap(err))
	default:
		_ = res.Body.Close()
		r.reportReachable(what, base.Host, res)
	}
}

func (r *report) reportReachable(what, host string, res *http.Response) {
	switch until := res.TLS.PeerCertificates[0].NotAfter; {
	case time.Until(until) < minValidity:
		r.reportProblem(what, "the certificate of %s expires on %s. Renew it where TLS terminates, and check why it wasn't renewed automatically.", host, formatDay(until))
	case res.StatusCode != http.StatusOK:
		r.reportNote(what, "valid until %s, but %s answers /healthz with %d. If a server is running, its proxy doesn't reach it.", formatDay(until), host, res.StatusCode)
	default:
		r.reportOK(what, "valid until %s", formatDay(until))
	}
}

// getThroughAddress sends one request to the operator's own host, at any address.
func (r *report) getThroughAddress(ctx context.Context, url, at string, roots *x509.CertPool) (*http.Response, error) {
	allow, err := safehttp.ParseAllow(at)
	if err != nil {
		return nil, fmt.Errorf("ask %s: %w", url, err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, fmt.Errorf("ask %s: %w", url, err)
	}
	return safehttp.New(safehttp.Options{Mode: safehttp.Public, Allow: allow, RootCAs: roots, UserAgent: "Patchbay/" + r.version, Standard: true}).Client().Do(req)
}

func portOr443(port string) string {
	if port == "" {
		return "443"
	}
	return port
}

func formatDay(at time.Time) string { return at.UTC().Format(time.DateOnly) }
