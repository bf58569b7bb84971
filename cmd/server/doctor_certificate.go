package main

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

// soonOver is when a certificate should have been renewed: automatic renewal takes place a month before.
const soonOver = 14 * 24 * time.Hour

// certificate asks Patchbay how it is, by the address that people use, and looks at the certificate there. What cannot be reached from this machine
// may be reached by others: that is no problem. Roots are trusted in place of the system's, where there are any.
func (e *examination) certificate(ctx context.Context, server config.Server, roots *x509.CertPool) {
	const what = "certificate"
	addr, err := net.ResolveTCPAddr("tcp", server.Addr)
	if err != nil {
		return // as base URL says
	}
	base := server.BaseURL(addr)
	if base.Scheme != "https" {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, doctorPatience)
	defer cancel()
	res, err := askOver(ctx, base.JoinPath("healthz").String(), net.JoinHostPort(base.Hostname(), portOf(base.Port())), roots)
	var unknown x509.UnknownAuthorityError
	var elsewhere x509.HostnameError
	invalid, isInvalid := errors.AsType[x509.CertificateInvalidError](err)
	switch {
	case isInvalid && invalid.Reason == x509.Expired:
		e.problem(what, "%s has one that is good from %s to %s: browsers and agents refuse it. Renew it where TLS ends, and check this machine's clock.",
			base.Host, day(invalid.Cert.NotBefore), day(invalid.Cert.NotAfter))
	case errors.As(err, &elsewhere):
		e.problem(what, "%s has one for other names: browsers and agents refuse it. Put one for %s where TLS ends, or mend PATCHBAY_BASE_URL.", base.Host, base.Hostname())
	case errors.As(err, &unknown):
		e.note(what, "%s has one of an authority that this machine does not know. Browsers and agents have to know it; where a public authority signed, the chain between is not sent.", base.Host)
	case isInvalid:
		e.problem(what, "%s has one that is not good: %v. Put another where TLS ends.", base.Host, invalid)
	case err != nil:
		e.note(what, "%s cannot be reached from this machine (%v). Where people reach it, nothing is wrong.", base.Host, errors.Unwrap(err))
	default:
		_ = res.Body.Close()
		e.reached(what, base.Host, res)
	}
}

func (e *examination) reached(what, host string, res *http.Response) {
	switch until := res.TLS.PeerCertificates[0].NotAfter; {
	case time.Until(until) < soonOver:
		e.problem(what, "the one of %s ends on %s. Renew it where TLS ends, and find out why that did not happen by itself.", host, day(until))
	case res.StatusCode != http.StatusOK:
		e.note(what, "good until %s; but %s answers /healthz with %d. Where a server of yours runs, its proxy does not lead to it.", day(until), host, res.StatusCode)
	default:
		e.ok(what, "good until %s", day(until))
	}
}

// askOver makes one request of the operator's own host, which may be anywhere.
func askOver(ctx context.Context, url, at string, roots *x509.CertPool) (*http.Response, error) {
	allow, err := safehttp.ParseAllow(at)
	if err != nil {
		return nil, fmt.Errorf("ask %s: %w", url, err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, fmt.Errorf("ask %s: %w", url, err)
	}
	return safehttp.New(safehttp.Options{Mode: safehttp.Public, Allow: allow, RootCAs: roots, UserAgent: "Patchbay/" + version(), Standard: true}).Client().Do(req)
}

func portOf(port string) string {
	if port == "" {
		return "443"
	}
	return port
}

func day(at time.Time) string { return at.UTC().Format(time.DateOnly) }
