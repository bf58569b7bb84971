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

// Plain HTTP has a transport of its own, unless the policy is a standard one. Its connections are checked as those of TLS are.

// forEachTransport runs test with package h1's transport and with net/http's alone.
func forEachTransport(t *testing.T, test func(t *testing.T, standard bool)) {
	t.Helper()
	for name, standard := range map[string]bool{"fast": false, "standard": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, standard)
		})
	}
}

func TestPlainHTTPIsRefusedNamesThatResolveToPrivateAddresses(t *testing.T) {
	t.Parallel()
	forEachTransport(t, testPlainHTTPIsRefusedNamesThatResolveToPrivateAddresses)
}

func testPlainHTTPIsRefusedNamesThatResolveToPrivateAddresses(t *testing.T, standard bool) {
	for _, address := range []string{"10.0.0.5", "169.254.169.254", "192.168.0.1", "100.64.0.1", "0.0.0.0", "224.0.0.1", "9.9.9.9"} {
		p := safehttp.New(safehttp.Options{
			Mode: safehttp.Local, Resolver: resolver(t, func(string) string { return address }), OwnHosts: []string{"9.9.9.9"}, Standard: standard,
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

// plainUp is a server on loopback whose name example.com leads to what address says, and the exceptions for both.
func plainUp(t *testing.T, standard, own bool, header func(http.Header)) (p *safehttp.Policy, url string, address *atomic.Value) {
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
	o := safehttp.Options{Standard: standard, Allow: allow, Resolver: resolver(t, func(string) string { return address.Load().(string) })}
	if own {
		o.OwnHosts = []string{at}
	}
	p = safehttp.New(o)
	t.Cleanup(p.Client().CloseIdleConnections)
	return p, "http://example.com:" + port + "/", address
}

func TestPlainHTTPChecksTheAddressOfEachConnection(t *testing.T) {
	t.Parallel()
	forEachTransport(t, testPlainHTTPChecksTheAddressOfEachConnection)
}

func testPlainHTTPChecksTheAddressOfEachConnection(t *testing.T, standard bool) {
	p, url, address := plainUp(t, standard, false, func(h http.Header) { h.Set("Connection", "close") })
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

// A connection that is kept goes where it was allowed to go. When it is given up, the name is asked again.
func TestPlainHTTPChecksTheAddressAfterAKeptConnection(t *testing.T) {
	t.Parallel()
	forEachTransport(t, testPlainHTTPChecksTheAddressAfterAKeptConnection)
}

func testPlainHTTPChecksTheAddressAfterAKeptConnection(t *testing.T, standard bool) {
	p, url, address := plainUp(t, standard, false, func(http.Header) {})
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

func TestPlainHTTPDoesNotReachPatchbayByAnotherName(t *testing.T) {
	t.Parallel()
	forEachTransport(t, testPlainHTTPDoesNotReachPatchbayByAnotherName)
}

func testPlainHTTPDoesNotReachPatchbayByAnotherName(t *testing.T, standard bool) {
	p, url, _ := plainUp(t, standard, true, func(http.Header) {})
	_, err := get(t, p, url)
	wantBlocked(t, err, "example.com")
}
