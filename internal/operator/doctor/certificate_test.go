package doctor

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"patchbay/internal/config"
)

// startTLSServer starts a server with a certificate for an address and a time, and returns a pool that trusts
// it.
func startTLSServer(t *testing.T, address string, from, to time.Time, answer int) (url string, roots *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	like := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: from, NotAfter: to, IPAddresses: []net.IP{net.ParseIP(address)}, IsCA: true, BasicConstraintsValid: true}
	made, err := x509.CreateCertificate(rand.Reader, like, like, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := x509.ParseCertificate(made)
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/healthz" {
			t.Errorf("it is asked %s", r.URL)
		}
		w.WriteHeader(answer)
	}))
	s.Config.ErrorLog = nil
	s.TLS = &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{{Certificate: [][]byte{made}, PrivateKey: key}}}
	s.StartTLS()
	t.Cleanup(s.Close)
	roots = x509.NewCertPool()
	roots.AddCert(parsed)
	return s.URL, roots
}

func TestDoctor_ChecksPublicCertificate(t *testing.T) {
	t.Parallel()
	now := time.Now()
	day := 24 * time.Hour
	for name, c := range map[string]struct {
		address  string
		from, to time.Duration
		answer   int
		stranger bool
		want     string
	}{
		"good":             {"127.0.0.1", -day, 90 * day, 200, false, `OK       certificate    valid until \d{4}-\d\d-\d\d`},
		"over":             {"127.0.0.1", -9 * day, -day, 200, false, `PROBLEM  certificate    127\.0\.0\.1:\d+ has a certificate valid from \S+ to \S+: browsers and agents reject it\. Renew it where TLS terminates, and check this machine's clock\.`},
		"of tomorrow":      {"127.0.0.1", day, 9 * day, 200, false, `PROBLEM  certificate    \S+ has a certificate valid from \S+ to \S+: browsers`},
		"soon over":        {"127.0.0.1", -day, 13 * day, 200, false, `PROBLEM  certificate    the certificate of \S+ expires on \S+\. Renew it`},
		"another's":        {"127.0.0.9", -day, 90 * day, 200, false, `PROBLEM  certificate    \S+ has a certificate for other names: browsers and agents reject it\. Install one for 127\.0\.0\.1 where TLS terminates`},
		"of an own CA":     {"127.0.0.1", -day, 90 * day, 200, true, `NOTE     certificate    \S+ has a certificate from an authority that this machine doesn't trust\.`},
		"leads to nothing": {"127.0.0.1", -day, 90 * day, 502, false, `NOTE     certificate    valid until \S+, but \S+ answers /healthz with 502\.`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url, roots := startTLSServer(t, c.address, now.Add(c.from), now.Add(c.to), c.answer)
			if c.stranger {
				roots = x509.NewCertPool()
			}
			server, err := config.ServerFlags{BaseURL: url}.Check()
			if err != nil {
				t.Fatal(err)
			}
			wantFinding(t, func(e *report) { e.checkCertificate(t.Context(), server, roots) }, c.want)
		})
	}
}

func TestDoctor_UnreachableBaseURLIsNoProblem(t *testing.T) {
	t.Parallel()
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	server, err := config.ServerFlags{BaseURL: strings.Replace(gone.URL, "http:", "https:", 1)}.Check()
	if err != nil {
		t.Fatal(err)
	}
	wantFinding(t, func(e *report) { e.checkCertificate(t.Context(), server, nil) }, `NOTE     certificate    127\.0\.0\.1:\d+ can't be reached from this machine \(.*refused\)\. If people can reach it, ignore this\.`)
}
