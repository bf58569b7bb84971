package safehttp_test

import (
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"patchbay/internal/safehttp"
)

// Plain HTTP has its own transport, unless the policy is a standard one. The checks of its connections are
// those of TLS.

// forEachTransport runs test with package httpclient's transport and with net/http's.
func forEachTransport(t *testing.T, test func(t *testing.T, standard bool)) {
	t.Helper()
	for name, standard := range map[string]bool{"fast": false, "standard": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, standard)
		})
	}
}

func TestPlainHTTP_RefusesNamesOfPrivateAddresses(t *testing.T) {
	t.Parallel()
	forEachTransport(t, testRefusesNamesOfPrivateAddresses)
}

func testRefusesNamesOfPrivateAddresses(t *testing.T, standard bool) {
	for _, address := range []string{"10.0.0.5", "169.254.169.254", "192.168.0.1", "100.64.0.1", "0.0.0.0", "224.0.0.1", "9.9.9.9"} {
		p := safehttp.New(safehttp.Options{
			Mode: safehttp.Local, Resolver: newResolver(t, func(string) string { return address }), OwnHosts: []string{"9.9.9.9"}, Standard: standard,
		})
		for _, url := range []string{"http://mcp.example.com/", "http://mcp.example.com:80/", "http://MCP.example.com./"} {
			_, err := get(t, p, url)
			if _, ok := errors.AsType[*safehttp.BlockedError](err); !ok {
				t.Errorf("%s at %s: %v, want it blocked", url, address, err)
			}
			if op, ok := errors.AsType[*net.OpError](err); !ok || op.Op != "dial" {
				t.Errorf("%s at %s: %v, want an error of dialling", url, address, err)
			}
		}
	}
}

// startPlainServer starts a server on loopback. example.com resolves to address, and both are allowed by
// exceptions.
func startPlainServer(t *testing.T, standard, own bool, header func(http.Header)) (p *safehttp.Policy, url string, address *atomic.Value) {
	t.Helper()
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { header(w.Header()) }))
	t.Cleanup(up.Close)
	at := strings.TrimPrefix(up.URL, "http://")
	_, port, _ := net.SplitHostPort(at)
	allow, err := safehttp.ParseAllow(at + ",example.com:" + port)
	if err != nil {
		t.Fatal(err)
	}
	address = new(atomic.Value)
	address.Store("127.0.0.1")
	o := safehttp.Options{Standard: standard, Allow: allow, Resolver: newResolver(t, func(string) string { return address.Load().(string) })}
	if own {
		o.OwnHosts = []string{at}
	}
	p = safehttp.New(o)
	t.Cleanup(p.Client().CloseIdleConnections)
	return p, "http://example.com:" + port + "/", address
}

func TestPlainHTTP_ChecksAddressOfEachConnection(t *testing.T) {
	t.Parallel()
	forEachTransport(t, testChecksAddressOfEachConnection)
}

func testChecksAddressOfEachConnection(t *testing.T, standard bool) {
	p, url, address := startPlainServer(t, standard, false, func(h http.Header) { h.Set("Connection", "close") })
	if _, err := get(t, p, url); err != nil {
		t.Fatalf("the first time: %v", err)
	}
	address.Store("169.254.169.254")
	_, err := get(t, p, url)
	wantBlocked(t, err, "example.com")
	address.Store("127.0.0.1")
	if _, err := get(t, p, url); err != nil {
		t.Errorf("back again: %v", err)
	}
}

// A reused connection is not checked again. A new connection resolves the name again.
func TestPlainHTTP_ChecksAddressAfterReusedConnection(t *testing.T) {
	t.Parallel()
	forEachTransport(t, testChecksAddressAfterReusedConnection)
}

func testChecksAddressAfterReusedConnection(t *testing.T, standard bool) {
	p, url, address := startPlainServer(t, standard, false, func(http.Header) {})
	for range 2 {
		if _, err := get(t, p, url); err != nil {
			t.Fatal(err)
		}
		address.Store("169.254.169.254")
	}
	p.Client().CloseIdleConnections()
	_, err := get(t, p, url)
	wantBlocked(t, err, "example.com")
}

func TestPlainHTTP_DoesNotReachPatchbayByOtherName(t *testing.T) {
	t.Parallel()
	forEachTransport(t, testDoesNotReachPatchbayByOtherName)
}

func testDoesNotReachPatchbayByOtherName(t *testing.T, standard bool) {
	p, url, _ := startPlainServer(t, standard, true, func(http.Header) {})
	_, err := get(t, p, url)
	wantBlocked(t, err, "example.com")
}
