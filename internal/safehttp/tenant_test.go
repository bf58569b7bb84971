package safehttp_test

import (
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"patchbay/internal/safehttp"
)

// One server gets requests of two tenants alternately. Each tenant has one connection of its own.
func TestTenants_ShareNoConnection(t *testing.T) {
	t.Parallel()
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := ""
		if r.TLS != nil {
			name = r.TLS.ServerName
		}
		_, _ = fmt.Fprintf(w, "%s %s %s %s", r.RemoteAddr, r.Proto, r.Host, name)
	})
	for scheme, proto := range map[string]string{"http": "HTTP/1.1", "https": "HTTP/1.1", "https, HTTP/2": "HTTP/2.0"} {
		for _, standard := range []bool{false, true} {
			for _, chunked := range []bool{false, true} { // package httpclient leaves these to net/http
				t.Run(fmt.Sprint(scheme, ", standard ", standard, ", chunked ", chunked), func(t *testing.T) {
					t.Parallel()
					up := httptest.NewUnstartedServer(handler)
					roots := x509.NewCertPool()
					if up.EnableHTTP2 = proto == "HTTP/2.0"; scheme == "http" {
						up.Start()
					} else {
						up.StartTLS()
						roots.AddCert(up.Certificate()) // for example.com
					}
					t.Cleanup(up.Close)
					_, port, _ := net.SplitHostPort(up.Listener.Addr().String())
					allow, err := safehttp.ParseAllow("127.0.0.1:" + port + ",example.com:" + port)
					if err != nil {
						t.Fatal(err)
					}
					p := safehttp.New(safehttp.Options{
						Standard: standard, Allow: allow, RootCAs: roots, Resolver: newResolver(t, func(string) string { return "127.0.0.1" }),
					})
					t.Cleanup(p.Client().CloseIdleConnections)
					first, _, _ := strings.Cut(scheme, ",")
					url := first + "://example.com:" + port + "/"
					seen := map[string]string{} // tenant by connection
					for range 3 {
						for _, tenant := range []string{"", "a", "b"} {
							for way, client := range map[string]*http.Client{"by context": p.Client(), "by client": p.ClientFor(tenant)} {
								r, err := http.NewRequestWithContext(safehttp.WithTenant(t.Context(), tenant), http.MethodPost, url, strings.NewReader("x"))
								if err != nil {
									t.Fatal(err)
								}
								if chunked {
									r.ContentLength = -1
								}
								resp, err := client.Do(r)
								if err != nil {
									t.Fatal(err)
								}
								body, _ := io.ReadAll(resp.Body)
								_ = resp.Body.Close()
								if resp.Request.URL.String() != url {
									t.Errorf("the answer is one of %s", resp.Request.URL)
								}
								address, rest, _ := strings.Cut(string(body), " ")
								want := proto + " example.com:" + port + " "
								if first == "https" {
									want += "example.com"
								}
								if rest != want {
									t.Errorf("%s: the server sees %q, want %q", way, rest, want)
								}
								if owner, known := seen[address]; known && owner != tenant {
									t.Errorf("%s: tenant %q is on the connection of %q", way, tenant, owner)
								}
								seen[address] = tenant
							}
						}
					}
					// net/http drops a connection where the request's end is not written soon after the reply.
					if len(seen) > 9 {
						t.Errorf("18 requests of three tenants took %d connections: %v", len(seen), seen)
					}
				})
			}
		}
	}
}
