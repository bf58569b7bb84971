package safehttp_test

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/safehttp"
	"patchbay/internal/secret"
	"patchbay/internal/testing/egressproxy"
)

func parseProxy(t *testing.T, address string) *safehttp.Proxy {
	t.Helper()
	p, err := safehttp.ParseProxy(secret.Text(address))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// trustServers returns a pool with the servers' certificates.
func trustServers(servers ...*httptest.Server) *x509.CertPool {
	pool := x509.NewCertPool()
	for _, s := range servers {
		if s.Certificate() != nil {
			pool.AddCert(s.Certificate())
		}
	}
	return pool
}

// newProxyPolicy is a public policy with a proxy. example.com resolves to addresses, and is also allowed over
// plain HTTP.
func newProxyPolicy(t *testing.T, proxy *safehttp.Proxy, pool *x509.CertPool, addresses string) *safehttp.Policy {
	t.Helper()
	allow, err := safehttp.ParseAllow("example.com:80")
	if err != nil {
		t.Fatal(err)
	}
	p := safehttp.New(safehttp.Options{
		Mode: safehttp.Public, Allow: allow, Proxy: proxy, RootCAs: pool, OwnHosts: installationHosts, Resolver: newResolver(t, func(string) string { return addresses }),
	})
	t.Cleanup(p.Client().CloseIdleConnections)
	return p
}

func TestProxy_GetsAllOutboundRequests(t *testing.T) {
	t.Parallel()
	hello := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Proxy-Authorization") != "" {
			t.Error("the server saw what the proxy is told")
		}
		body, _ := io.ReadAll(r.Body)
		_, _ = fmt.Fprintf(w, "%s %s %s", r.Method, r.Host, body)
	})
	plain, over := httptest.NewServer(hello), httptest.NewTLSServer(hello)
	t.Cleanup(plain.Close)
	t.Cleanup(over.Close)
	for name, tc := range map[string]struct {
		up       *httptest.Server
		proxyTLS bool
		url      string
		asked    string
	}{
		"TLS":                            {over, false, "https://example.com/mcp", "CONNECT example.com:443"},
		"TLS at another port":            {over, false, "https://EXAMPLE.com.:8443/mcp", "CONNECT example.com:8443"},
		"plain HTTP":                     {plain, false, "http://example.com/mcp", "CONNECT example.com:80"},
		"TLS through a TLS proxy":        {over, true, "https://example.com/mcp", "CONNECT example.com:443"},
		"plain HTTP through a TLS proxy": {plain, true, "http://example.com/mcp", "CONNECT example.com:80"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			proxy := egressproxy.New(t, egressproxy.Options{To: tc.up.Listener.Addr().String(), TLS: tc.proxyTLS, User: "patch", Pass: "p@ss:w/rd"})
			p := newProxyPolicy(t, parseProxy(t, proxy.Address("patch:p%40ss%3Aw%2Frd@")), trustServers(over, proxy.Server), "1.1.1.1")
			for n := range 3 {
				req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, tc.url, strings.NewReader(fmt.Sprint("body ", n)))
				if err != nil {
					t.Fatal(err)
				}
				resp, err := p.Client().Do(req)
				if err != nil {
					t.Fatal(err)
				}
				body, err := io.ReadAll(resp.Body)
				if err = errors.Join(err, resp.Body.Close()); err != nil || !strings.HasPrefix(strings.ToLower(string(body)), "post example.com") || !strings.HasSuffix(string(body), fmt.Sprint("body ", n)) {
					t.Errorf("%q, %v", body, err)
				}
			}
			if diff := cmp.Diff([]string{tc.asked}, proxy.Asked()); diff != "" { // one reused connection
				t.Error(diff)
			}
		})
	}
}

func TestProxy_SameRulesHold(t *testing.T) {
	t.Parallel()
	proxy := egressproxy.New(t, egressproxy.Options{})
	for name, tc := range map[string]struct{ url, addresses, host string }{
		"a private address":             {"https://10.0.0.5/", "1.1.1.1", "10.0.0.5"},
		"metadata":                      {"https://169.254.169.254/", "1.1.1.1", "169.254.169.254"},
		"a mapped address":              {"https://[::ffff:10.0.0.5]/", "1.1.1.1", "::ffff:10.0.0.5"},
		"this machine":                  {"https://127.0.0.1/", "1.1.1.1", "127.0.0.1"},
		"an internal name":              {"https://db.internal/", "1.1.1.1", "db.internal"},
		"a port":                        {"https://mcp.example.com:22/", "1.1.1.1", "mcp.example.com"},
		"plain HTTP":                    {"http://mcp.example.com/", "1.1.1.1", "mcp.example.com"},
		"ourselves":                     {"https://patchbay.example.org/", "1.1.1.1", "patchbay.example.org"},
		"a name that leads inside":      {"https://mcp.example.com/", "10.0.0.5", "mcp.example.com"},
		"a name that leads to metadata": {"https://mcp.example.com/", "169.254.169.254", "mcp.example.com"},
		"a name that leads to us":       {"https://mcp.example.com/", "9.9.9.9", "mcp.example.com"},
		"one answer of several":         {"https://mcp.example.com/", "1.1.1.1,fd00::1,8.8.8.8", "mcp.example.com"},
		"an allowed name that is here":  {"http://example.com/", "127.0.0.1", "example.com"},
	} {
		p := newProxyPolicy(t, proxy.Setting(t), nil, tc.addresses)
		err := sendUnchecked(t, p, tc.url)
		if blocked, ok := errors.AsType[*safehttp.BlockedError](err); !ok || blocked.Host != tc.host {
			t.Errorf("%s: %v, want %s blocked", name, err, tc.host)
		}
	}
	if asked := proxy.Asked(); len(asked) > 0 {
		t.Errorf("the proxy was asked: %v", asked)
	}
}

func TestProxy_ResolvesUnknownNames(t *testing.T) {
	t.Parallel()
	up := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(up.Close)
	proxy := egressproxy.New(t, egressproxy.Options{To: up.Listener.Addr().String()})
	p := safehttp.New(safehttp.Options{Mode: safehttp.Public, Proxy: proxy.Setting(t), RootCAs: trustServers(up), Resolver: &net.Resolver{
		PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) { return nil, errors.New("no name server here") },
	}})
	t.Cleanup(p.Client().CloseIdleConnections)
	if err := sendUnchecked(t, p, "https://example.com/"); err != nil || len(proxy.Asked()) != 1 {
		t.Errorf("%v, the proxy was asked %v", err, proxy.Asked())
	}
}

func TestProxy_NotUsedForLoopback(t *testing.T) {
	t.Parallel()
	up := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(up.Close)
	proxy := egressproxy.New(t, egressproxy.Options{})
	p := safehttp.New(safehttp.Options{Mode: safehttp.Local, Proxy: proxy.Setting(t)})
	t.Cleanup(p.Client().CloseIdleConnections)
	for _, url := range []string{up.URL, strings.Replace(up.URL, "127.0.0.1", "localhost", 1)} {
		if err := sendUnchecked(t, p, url); err != nil {
			t.Error(err)
		}
	}
	if asked := proxy.Asked(); len(asked) > 0 {
		t.Errorf("the proxy was asked: %v", asked)
	}
}
