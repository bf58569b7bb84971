//go:build e2e

package e2e_test

import (
	"encoding/json"
	"encoding/pem"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"patchbay/internal/testing/browser"
)

// website serves the program's Client ID Metadata Document, by TLS as required.
type website struct {
	document string // its URL, which is the program's client id
	host     string
	reads    atomic.Int64 // of the document
	others   atomic.Int64 // of anything else, as of a logo
	env      string       // has a program trust it
}

// elsewhere is a redirect URI of the program that is not on its person's machine.
const elsewhere = "https://app.example.com/callback"

func newWebsite(t *testing.T) *website {
	t.Helper()
	w := &website{}
	server := httptest.NewTLSServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/programs/gopher.json" {
			w.others.Add(1)
			http.NotFound(rw, r)
			return
		}
		w.reads.Add(1)
		rw.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(rw).Encode(object{
			"client_id": w.document, "client_name": "Gopher", "client_uri": "https://bank.example", "logo_uri": "https://" + w.host + "/logo.png",
			"redirect_uris": []string{"http://127.0.0.1/callback", "http://127.0.0.1" + longPath, elsewhere},
			"grant_types":   []string{"authorization_code", "refresh_token"}, "token_endpoint_auth_method": "none",
		})
	}))
	t.Cleanup(server.Close)
	w.host = server.Listener.Addr().String()
	w.document = "https://" + w.host + "/programs/gopher.json"
	roots := filepath.Join(t.TempDir(), "roots.pem")
	if err := os.WriteFile(roots, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	w.env = "SSL_CERT_FILE=" + roots
	return w
}

// reaches opens the program's address, and signs in if there is no session.
func (d doorstep) reaches(tab *browser.Tab, address string) {
	d.t.Helper()
	tab.Go(address)
	d.enters(tab)
}

func (d doorstep) enters(tab *browser.Tab) {
	d.t.Helper()
	tab.WaitText("h1", "Sign in")
	tab.Fill("[name=email]", ownerEmail)
	tab.Fill("[name=password]", ownerPassword)
	tab.Click("main form button[type=submit]")
}

// TestClientDocument_SignIn: the official SDKs' clients do not register. Their client id is the URL of a
// document, which Patchbay reads over its safe client. The page names the document's host, the program's own
// name, and the redirect target.
func TestClientDocument_SignIn(t *testing.T) {
	t.Parallel()
	w := newWebsite(t)
	d := newDoorstep(t, w.env)
	honestly := func(tab *browser.Tab) {
		tab.WaitText("h1", "Allow a client from "+w.host+"?")
		tab.WaitText("dl.facts", "“Gopher” (unverified)")
		tab.WaitText("dl.facts", "your computer (127.0.0.1:")
		tab.WaitText("main", "Any program on your computer can receive the response.")
		if page := browser.Eval[string](tab, `document.documentElement.outerHTML`); strings.Contains(page, "logo.png") || strings.Contains(page, "bank.example") {
			t.Error("the page shows what the program says, and nobody has checked")
		}
	}
	for _, revision := range []string{"2025-11-25", newest} {
		tab := browser.Open(t)
		p := newSignsIn(t, tab, func(tab *browser.Tab) {
			d.enters(tab)
			honestly(tab)
			newLooker(t, tab).at("authorize-document-" + revision)
			letsIn(tab)
		})
		p.document = w.document
		p.comes(d.base, "/mcp", revision)
		if asked, err := url.Parse(p.asked); err != nil || asked.Query().Get("client_id") != w.document {
			t.Errorf("the program calls itself %s", p.asked)
		}
		tab.Go(d.base + "/account")
		tab.WaitText("#programs", w.host)

		d.signsIn(revision, func(address string) {
			tab := browser.Open(t)
			d.reaches(tab, address)
			honestly(tab)
			letsIn(tab)
			tab.Go(d.base + "/account")
			tab.Forgive("favicon") // of the program's page, and not ours
		}, w.document)
	}
	if w.reads.Load() == 0 || w.others.Load() != 0 {
		t.Errorf("the document was read %d times, and %d other things were asked for", w.reads.Load(), w.others.Load())
	}
}

// The page names the redirect target if it is not the person's machine. A redirect URI outside of the document
// is refused, and so is the document of another host's program.
func TestClientDocument_PageNamesRedirectTarget(t *testing.T) {
	t.Parallel()
	w := newWebsite(t)
	d := newDoorstep(t, w.env)
	tab := browser.Open(t)
	asks := func(client, redirect string) string {
		return d.base + "/oauth/authorize?" + url.Values{
			"response_type": {"code"}, "client_id": {client}, "redirect_uri": {redirect}, "state": {"s"}, "resource": {d.base + "/mcp"},
			"code_challenge": {strings.Repeat("A", 43)}, "code_challenge_method": {"S256"},
		}.Encode()
	}
	d.reaches(tab, asks(w.document, elsewhere))
	tab.WaitText("h1", "Allow a client from "+w.host+"?")
	tab.WaitText("dl.facts", "app.example.com")
	if text := tab.Text("main"); strings.Contains(text, "on your computer") {
		t.Errorf("the page says %s", text)
	}
	newLooker(t, tab).at("authorize-document-elsewhere")
	_, port, _ := net.SplitHostPort(w.host)
	for client, redirect := range map[string]string{
		w.document: "https://evil.example/callback",
		"https://localhost:" + port + "/programs/gopher.json": elsewhere, // the certificate is of another name
		w.document + "/": elsewhere,
		"https://" + w.host + "/programs/none.json": elsewhere,
	} {
		tab.Go(asks(client, redirect))
		if buttons := browser.Eval[int](tab, `document.querySelectorAll("button[value=allow]").length`); buttons != 0 {
			t.Errorf("%s at %s is asked about: %s", client, redirect, tab.Text("main"))
		}
		tab.Forgive("42")
		tab.Forgive("502")
	}
}
