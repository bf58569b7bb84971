//go:build e2e

package e2e_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"patchbay/internal/testing/egressproxy"
)

// theProxy is where everything has to come from.
const theProxy = "127.0.0.2"

// outside is all servers beyond the proxy, by name and with TLS: an MCP server, its authorization server, and a
// webhook receiver. It serves the proxy alone.
type outside struct {
	t    *testing.T
	dev  http.Handler // the MCP server behind the one that wants a token
	file string       // the certificate

	mu         sync.Mutex // guards what follows
	challenge  string     // of PKCE
	told       []string   // host and path of each request
	past       []string   // clients other than the proxy
	deliveries int
}

func newOutside(t *testing.T) (*outside, *egressproxy.Proxy) {
	t.Helper()
	o := &outside{t: t, file: filepath.Join(t.TempDir(), "roots.pem")}
	server := httptest.NewTLSServer(o)
	t.Cleanup(server.Close)
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	if err := os.WriteFile(o.file, block, 0o600); err != nil {
		t.Fatal(err)
	}
	proxy := egressproxy.New(t, egressproxy.Options{
		To: strings.TrimPrefix(server.URL, "https://"), From: theProxy, User: "patch", Pass: "sekret-proxy-word",
	})
	return o, proxy
}

// ServeHTTP refuses clients other than the proxy.
func (o *outside) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	from, _, _ := net.SplitHostPort(r.RemoteAddr)
	o.mu.Lock()
	o.told = append(o.told, r.Host+r.URL.Path)
	if from != theProxy {
		o.past = append(o.past, from+" to "+r.Host)
	}
	o.mu.Unlock()
	switch {
	case from != theProxy:
		w.WriteHeader(http.StatusForbidden)
	case r.Host == "auth.example.com":
		o.authorizes(w, r)
	case r.Host == "mcp.example.com":
		o.serves(w, r)
	case r.Host == "hooks.example.com":
		o.mu.Lock()
		o.deliveries++
		o.mu.Unlock()
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

func (o *outside) authorizes(w http.ResponseWriter, r *http.Request) {
	const issuer = "https://auth.example.com"
	switch r.URL.Path {
	case "/.well-known/oauth-authorization-server":
		say(w, http.StatusOK, object{
			"issuer": issuer, "authorization_endpoint": issuer + "/authorize", "token_endpoint": issuer + "/token", "registration_endpoint": issuer + "/register",
			"response_types_supported": []string{"code"}, "code_challenge_methods_supported": []string{"S256"}, "token_endpoint_auth_methods_supported": []string{"none"},
		})
	case "/register":
		var asked object
		_ = json.NewDecoder(r.Body).Decode(&asked)
		say(w, http.StatusCreated, object{"client_id": "client-1", "redirect_uris": asked["redirect_uris"], "token_endpoint_auth_method": "none"})
	case "/token":
		sum := sha256.Sum256([]byte(r.PostFormValue("code_verifier")))
		o.mu.Lock()
		right := base64.RawURLEncoding.EncodeToString(sum[:]) == o.challenge && r.PostFormValue("code") == "code-1"
		o.mu.Unlock()
		if !right {
			say(w, http.StatusBadRequest, object{"error": "invalid_grant"})
			return
		}
		say(w, http.StatusOK, object{"access_token": "access-1", "token_type": "Bearer", "expires_in": 3600})
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

func (o *outside) serves(w http.ResponseWriter, r *http.Request) {
	const place = "/.well-known/oauth-protected-resource/mcp"
	switch {
	case r.URL.Path == place:
		say(w, http.StatusOK, object{"resource": "https://mcp.example.com/mcp", "authorization_servers": []string{"https://auth.example.com"}})
	case r.Header.Get("Authorization") != "Bearer access-1":
		w.Header().Set("WWW-Authenticate", `Bearer resource_metadata="https://mcp.example.com`+place+`"`)
		w.WriteHeader(http.StatusUnauthorized)
	default:
		o.dev.ServeHTTP(w, r)
	}
}

func say(w http.ResponseWriter, status int, body object) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

// agree is the person at the authorization server, with a direct connection: it returns a code.
func (o *outside) agree(at string) (back string) {
	o.t.Helper()
	u, err := url.Parse(at)
	if err != nil || u.Host != "auth.example.com" {
		o.t.Fatalf("the browser is sent to %q", at)
	}
	q := u.Query()
	o.mu.Lock()
	o.challenge = q.Get("code_challenge")
	o.mu.Unlock()
	return q.Get("redirect_uri") + "?" + url.Values{"code": {"code-1"}, "state": {q.Get("state")}}.Encode()
}

func TestBehindAnEgressProxyNothingGoesAroundIt(t *testing.T) {
	t.Parallel()
	o, proxy := newOutside(t)
	h := newHome(t, "PATCHBAY_EGRESS=public", "PATCHBAY_EGRESS_PROXY="+proxy.Address("patch:sekret-proxy-word@"), "SSL_CERT_FILE="+o.file,
		"HTTP_PROXY=http://127.0.0.1:1", "HTTPS_PROXY=http://127.0.0.1:1") // never read
	dev, err := url.Parse(h.devMCP())
	if err != nil {
		t.Fatal(err)
	}
	o.dev = &httputil.ReverseProxy{Transport: localTransport, FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(dev); r.Out.Header.Del("Authorization") }}
	s := h.serve()
	c := client{t: t, base: s.base, key: h.run("apikey", "create", "--tenant", "default", "--role", "owner", "--name", "tests")}

	c.must(http.StatusCreated, http.MethodPost, "/api/v1/connectors", object{"name": "Notes", "url": "https://mcp.example.com/mcp", "auth": object{"type": "oauth2"}, "sync_interval_s": 0})
	link, _ := c.must(http.StatusOK, http.MethodPost, "/api/v1/connectors/notes/connect", object{})["connect_url"].(string)
	v := newVisitor(t)
	v.client.CheckRedirect = func(req *http.Request, _ []*http.Request) error {
		if req.URL.Host == "auth.example.com" {
			return http.ErrUseLastResponse
		}
		return nil
	}
	v.follow(link)
	to := v.shown.location
	if to == "" { // by a page of ours
		_, rest, _ := strings.Cut(v.shown.body, `href="https://auth.example.com`)
		rest, _, _ = strings.Cut(rest, `"`)
		to = "https://auth.example.com" + strings.ReplaceAll(rest, "&amp;", "&")
	}
	if v.open(o.agree(to)); v.at.Path != "/connect/done" {
		t.Fatalf("the connection ends at %s: %d %s", v.at.Path, v.shown.status, v.shown.body)
	}
	if run := c.must(http.StatusOK, http.MethodPost, "/connectors/notes/sync_tools", nil); run["status"] != "ok" {
		t.Fatalf("the sync: %v", run)
	}
	agent := c.hire("helper", "notes")
	message, header := modern("tools/call", `"name":"mcp_notes__search_issues","arguments":{"query":"x"}`)
	if status, _, r := agent.send("/mcp", message, header...); status != http.StatusOK || r.Error != nil {
		t.Fatalf("the call is answered %d: %v", status, r.Error)
	}
	hook := c.must(http.StatusCreated, http.MethodPost, "/api/v1/webhooks", object{"name": "Chat", "url": "https://hooks.example.com/hook"})
	if tested := c.must(http.StatusOK, http.MethodPost, fmt.Sprintf("/api/v1/webhooks/%v/test", hook["id"]), nil); tested["state"] != "delivered" {
		t.Errorf("the webhook: %v", tested)
	}

	asked := proxy.Asked()
	for _, host := range []string{"mcp.example.com:443", "auth.example.com:443", "hooks.example.com:443"} {
		if !slices.Contains(asked, "CONNECT "+host) {
			t.Errorf("the proxy was not asked for %s: %v", host, asked)
		}
	}
	for _, one := range asked {
		if !strings.HasPrefix(one, "CONNECT ") || !strings.HasSuffix(one, ".example.com:443") {
			t.Errorf("the proxy was asked %q", one)
		}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.past) > 0 || o.deliveries != 1 {
		t.Errorf("came around the proxy: %v; %d deliveries", o.past, o.deliveries)
	}
	for _, want := range []string{"auth.example.com/register", "auth.example.com/token", "mcp.example.com/mcp", "hooks.example.com/hook"} {
		if !slices.Contains(o.told, want) {
			t.Errorf("%s was never asked: %v", want, o.told)
		}
	}
	if strings.Contains(s.stderr.text(), "sekret-proxy-word") {
		t.Error("the log holds the proxy's password")
	}
}
