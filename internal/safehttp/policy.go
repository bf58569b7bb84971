package safehttp

import (
	"crypto/x509"
	"net"
	"net/http"
	"net/url"
)

// Mode is how far Patchbay may reach.
type Mode string

// The modes.
const (
	Local  Mode = "local"
	Public Mode = "public"
)

// Options describe a policy.
type Options struct {
	Mode Mode // anything but Local is Public
	// Allow holds the operator's exceptions.
	Allow []Exception
	// OwnHosts are Patchbay's own names and addresses, as "host" (any port) or "host:port". In mode Local a loopback
	// host counts only with its port: other servers live there, too.
	OwnHosts []string
	// UserAgent is sent where a request names none.
	UserAgent string
	// Resolver looks names up; nil: the system's.
	Resolver *net.Resolver
	// RootCAs are trusted; nil: the system's.
	RootCAs *x509.CertPool
}

// Policy decides where Patchbay may connect. It is safe for concurrent use.
type Policy struct {
	client *http.Client
}

// New makes a policy.
func New(o Options) *Policy { return &Policy{client: &http.Client{}} }

// Client returns the one client of this policy. It follows no redirects.
func (p *Policy) Client() *http.Client { return p.client }

// CheckURL reads a server's URL and tells whether Patchbay may connect there, as far as that shows without a look-up.
// The error is a *BlockedError, or a *fault.Error where the text is no URL.
func (p *Policy) CheckURL(raw string) (*url.URL, error) { return url.Parse(raw) }
