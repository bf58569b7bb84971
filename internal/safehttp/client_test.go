package safehttp_test

import (
	"context"
	"crypto/x509"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/net/dns/dnsmessage"

	"patchbay/internal/safehttp"
)

// newResolver answers every lookup with the result of addresses, a list separated by commas.
func newResolver(t *testing.T, addresses func(name string) string) *net.Resolver {
	t.Helper()
	return &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		client, server := net.Pipe()
		go answerLookup(server, addresses)
		return client, nil
	}}
}

// answerLookup answers one DNS question over a stream (RFC 1035 section 4.2.2).
func answerLookup(conn net.Conn, addresses func(string) string) {
	defer func() { _ = conn.Close() }()
	var length [2]byte
	if _, err := io.ReadFull(conn, length[:]); err != nil {
		return
	}
	query := make([]byte, binary.BigEndian.Uint16(length[:]))
	if _, err := io.ReadFull(conn, query); err != nil {
		return
	}
	var message dnsmessage.Message
	if err := message.Unpack(query); err != nil {
		return
	}
	message.Response, message.Additionals = true, nil
	for text := range strings.SplitSeq(addresses(message.Questions[0].Name.String()), ",") {
		if record, ok := newRecord(message.Questions[0], netip.MustParseAddr(text)); ok {
			message.Answers = append(message.Answers, record)
		}
	}
	reply, err := message.Pack()
	if err != nil {
		return
	}
	binary.BigEndian.PutUint16(length[:], uint16(len(reply)))
	_, _ = conn.Write(append(length[:], reply...))
}

// newRecord returns an address as a record for a question of its type.
func newRecord(q dnsmessage.Question, addr netip.Addr) (r dnsmessage.Resource, ok bool) {
	r.Header = dnsmessage.ResourceHeader{Name: q.Name, Class: q.Class}
	switch {
	case q.Type == dnsmessage.TypeA && addr.Is4():
		r.Body = &dnsmessage.AResource{A: addr.As4()}
	case q.Type == dnsmessage.TypeAAAA && addr.Is6():
		r.Body = &dnsmessage.AAAAResource{AAAA: addr.As16()}
	}
	return r, r.Body != nil
}

func get(t *testing.T, p *safehttp.Policy, url string) (*http.Response, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := p.Client().Do(req)
	if err == nil {
		t.Cleanup(func() { _ = resp.Body.Close() })
	}
	return resp, err
}

func wantBlocked(t *testing.T, err error, host string) {
	t.Helper()
	blocked, ok := errors.AsType[*safehttp.BlockedError](err)
	if !ok || blocked.Host != host {
		t.Errorf("error = %v (%+v), want %s blocked", err, blocked, host)
	}
}

func TestClient_RefusesNamesOfPrivateAddresses(t *testing.T) {
	t.Parallel()
	for _, address := range []string{
		"127.0.0.1", "10.0.0.5", "169.254.169.254", "192.168.0.1", "100.64.0.1", "0.0.0.0", "224.0.0.1", "9.9.9.9",
	} {
		p := safehttp.New(safehttp.Options{
			Resolver: newResolver(t, func(string) string { return address }), OwnHosts: []string{"9.9.9.9"},
		})
		_, err := get(t, p, "https://mcp.example.com/")
		wantBlocked(t, err, "mcp.example.com")
		if blocked, ok := errors.AsType[*safehttp.BlockedError](err); ok {
			if want := "The name mcp.example.com resolves to a blocked address."; blocked.Error() != want {
				t.Errorf("%s: %q, want %q", address, blocked.Error(), want)
			}
		}
	}
}

func TestClient_ExplainsRefusedAddress(t *testing.T) {
	t.Parallel()
	_, err := get(t, safehttp.New(safehttp.Options{}), "https://10.0.0.5/")
	wantBlocked(t, err, "10.0.0.5")
	if want := "The address 10.0.0.5 is private. The operator can allow it in PATCHBAY_EGRESS_ALLOW."; !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %q", err, want)
	}
}

// DNS rebinding: an allowed name resolves to another address at the next connection.
func TestClient_ChecksAddressOfEachConnection(t *testing.T) {
	t.Parallel()
	up := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Connection", "close")
	}))
	t.Cleanup(up.Close)
	host := strings.TrimPrefix(up.URL, "https://127.0.0.1")
	allow, err := safehttp.ParseAllow("127.0.0.1" + host + ",example.com" + host)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(up.Certificate()) // for example.com and 127.0.0.1
	var address atomic.Value
	p := safehttp.New(safehttp.Options{
		Allow: allow, RootCAs: roots, Resolver: newResolver(t, func(string) string { return address.Load().(string) }),
	})
	address.Store("127.0.0.1")
	if _, err := get(t, p, "https://example.com"+host+"/"); err != nil {
		t.Fatalf("the first time: %v", err)
	}
	address.Store("169.254.169.254")
	_, err = get(t, p, "https://example.com"+host+"/")
	wantBlocked(t, err, "example.com")
}

func TestClient_ChecksURLOfEachRequest(t *testing.T) {
	t.Parallel()
	p := safehttp.New(safehttp.Options{})
	for url, host := range map[string]string{
		"http://mcp.example.com/": "mcp.example.com",
		"https://10.0.0.5/":       "10.0.0.5",
		"https://printer.local/":  "printer.local",
		"https://127.1/":          "127.1",
	} {
		_, err := get(t, p, url)
		wantBlocked(t, err, host)
		if _, ok := errors.AsType[*net.OpError](err); !ok {
			t.Errorf("%s: no *net.OpError in the chain of %v", url, err)
		}
	}
}

func TestClient_LocalReachesLoopbackButNotItself(t *testing.T) {
	t.Parallel()
	var agent atomic.Value
	up := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		agent.Store(r.UserAgent())
	}))
	t.Cleanup(up.Close)
	p := safehttp.New(safehttp.Options{Mode: safehttp.Local, UserAgent: "patchbay/test"})
	if _, err := get(t, p, up.URL); err != nil || agent.Load() != "patchbay/test" {
		t.Errorf("loopback: error %v, User-Agent %v", err, agent.Load())
	}
	own := safehttp.New(safehttp.Options{Mode: safehttp.Local, OwnHosts: []string{strings.TrimPrefix(up.URL, "http://")}})
	_, err := get(t, own, up.URL)
	wantBlocked(t, err, "127.0.0.1")
	_, err = get(t, own, strings.Replace(up.URL, "127.0.0.1", "localhost", 1))
	wantBlocked(t, err, "localhost")
}

func TestClient_PublicReachesExceptionBesideItself(t *testing.T) {
	t.Parallel()
	up := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(up.Close)
	address := strings.TrimPrefix(up.URL, "http://")
	allow, err := safehttp.ParseAllow(address)
	if err != nil {
		t.Fatal(err)
	}
	beside := safehttp.New(safehttp.Options{Mode: safehttp.Public, Allow: allow, OwnHosts: []string{"127.0.0.1:1"}})
	if _, err := get(t, beside, up.URL); err != nil {
		t.Errorf("another server of this machine: %v", err)
	}
	itself := safehttp.New(safehttp.Options{Mode: safehttp.Public, Allow: allow, OwnHosts: []string{address}})
	_, err = get(t, itself, up.URL)
	wantBlocked(t, err, "127.0.0.1")
}

func TestClient_FollowsNoRedirect(t *testing.T) {
	t.Parallel()
	up := httptest.NewServer(http.RedirectHandler("http://169.254.169.254/", http.StatusTemporaryRedirect))
	t.Cleanup(up.Close)
	resp, err := get(t, safehttp.New(safehttp.Options{Mode: safehttp.Local}), up.URL)
	if err != nil || resp.StatusCode != http.StatusTemporaryRedirect {
		t.Errorf("answer %v, error %v, want the redirect itself", resp, err)
	}
}

func TestClient_IgnoresProxyEnvironment(t *testing.T) {
	proxy := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the proxy was asked") }))
	t.Cleanup(proxy.Close)
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"} {
		t.Setenv(name, proxy.URL)
	}
	p := safehttp.New(safehttp.Options{Resolver: newResolver(t, func(string) string { return "10.0.0.5" })})
	_, err := get(t, p, "https://mcp.example.com/")
	wantBlocked(t, err, "mcp.example.com")
}

func TestClient_BoundsResponseHeaders(t *testing.T) {
	t.Parallel()
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Long", strings.Repeat("x", 1<<20))
	}))
	t.Cleanup(up.Close)
	if _, err := get(t, safehttp.New(safehttp.Options{Mode: safehttp.Local}), up.URL); err == nil {
		t.Error("a header of 1 MiB was taken")
	}
}
