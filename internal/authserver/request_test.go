package authserver_test

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
)

func TestPKCEIsNeverLeftOut(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	client := w.registers(callback)
	for name, change := range map[string][]string{
		"no challenge":     {"code_challenge", "", "code_challenge_method", ""},
		"no method":        {"code_challenge_method", ""}, // which would be plain
		"plain":            {"code_challenge_method", "plain"},
		"another method":   {"code_challenge_method", "S512"},
		"a short one":      {"code_challenge", "abc"},
		"not in base64":    {"code_challenge", strings.Repeat("!", 43)},
		"with its padding": {"code_challenge", challenge() + "="},
	} {
		if _, err := w.programs.Request(t.Context(), asks(client, change...)); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestRequest_OnlyRegisteredRedirects(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	client := w.registers("http://127.0.0.1:7777/callback", "https://app.example.com/cb?tenant=1", "cursor://anysphere.cursor-mcp/oauth/callback", "http://[::1]/cb", "http://localhost:80/cb")
	for uri, want := range map[string]bool{
		"http://127.0.0.1:7777/callback":               true,
		"http://127.0.0.1:9999/callback":               true, // RFC 8252 §7.3
		"http://127.0.0.1/callback":                    true,
		"http://[::1]:5123/cb":                         true,
		"http://localhost:5123/cb":                     true,
		"https://app.example.com/cb?tenant=1":          true,
		"cursor://anysphere.cursor-mcp/oauth/callback": true,
		"":                                                   false,
		"http://127.0.0.1:7777/callback/":                    false,
		"http://127.0.0.1:7777/callback/..":                  false,
		"http://127.0.0.1:7777/callback?x=1":                 false,
		"http://127.0.0.1:7777/callback#x":                   false,
		"http://127.0.0.1:7777/Callback":                     false,
		"http://127.0.0.1:7777/%63allback":                   false,
		"http://127.0.0.1:7777\\@evil.example/callback":      false,
		"http://127.0.0.1:7777@evil.example/callback":        false,
		"http://127.0.0.1@evil.example/callback":             false,
		"http://user@127.0.0.1:7777/callback":                false,
		"http://127.0.0.1.evil.example:7777/callback":        false,
		"http://localhost:7777/callback":                     false, // another host, and another meaning on some machines
		"http://127.1:7777/callback":                         false,
		"http://2130706433:7777/callback":                    false,
		"http://127.0.0.2:7777/callback":                     false,
		"http://[::ffff:127.0.0.1]:7777/callback":            false,
		"https://127.0.0.1:7777/callback":                    false,
		"HTTP://127.0.0.1:7777/callback":                     false,
		"//127.0.0.1:7777/callback":                          false,
		"/callback":                                          false,
		"http://evil.example/callback":                       false,
		"https://app.example.com/cb":                         false,
		"https://app.example.com:8443/cb?tenant=1":           false,
		"https://app.example.com/cb?tenant=1&to=evil":        false,
		"https://app.example.com.evil.example/cb?tenant=1":   false,
		"https://app.example.com%2f@evil.example/cb":         false,
		"https://APP.example.com/cb?tenant=1":                false,
		"javascript:alert(1)":                                false,
		"data:text/html,x":                                   false,
		"cursor://anysphere.cursor-mcp/oauth/callback/../x":  false,
		"cursor://evil/oauth/callback":                       false,
		"http://127.0.0.1:7777/callback\r\nLocation: //evil": false,
	} {
		_, err := w.programs.Request(t.Context(), asks(client, "redirect_uri", uri))
		if want != (err == nil) || err != nil && !fault.Is(err, fault.Invalid) {
			t.Errorf("%q: %v", uri, err)
		}
	}
}

func TestRegister_RefusesScriptRedirects(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	for _, uri := range []string{
		"javascript:alert(1)", "JavaScript:alert(1)", "data:text/html,x", "vbscript:x", "file:///etc/passwd", "blob:https://a/b", "about:blank", "http://app.example.com/cb",
		"https://", "https:opaque", "https://user:pw@app.example.com/cb", "https://app.example.com/cb#fragment", "mailto:a@b.c", "ftp://a.example/", "ms-settings:x", "/cb",
		"//app.example.com/cb", "", "http://127.0.0.1:1/c d", "https://app.example.com/\\evil", "http://localhost.evil.example/cb", strings.Repeat("https://a.example/", 200),
	} {
		r := w.send("/oauth/register", "application/json", `{"redirect_uris": [`+strconv.Quote(callback)+`, `+strconv.Quote(uri)+`]}`)
		if r.Status != http.StatusBadRequest || r.text("error") != "invalid_redirect_uri" {
			t.Errorf("%q: %+v", uri, r)
		}
	}
	for _, body := range []string{"", "[]", "{", `{"redirect_uris": "x"}`, `{"redirect_uris": ["` + callback + `"], "client_name": "` + strings.Repeat("x", 20_000) + `"}`} {
		if r := w.send("/oauth/register", "application/json", body); r.Status != http.StatusBadRequest {
			t.Errorf("%.40q: %+v", body, r)
		}
	}
	if r := w.send("/oauth/register", "application/json", `{"redirect_uris": []}`); r.text("error") != "invalid_redirect_uri" {
		t.Errorf("%+v", r)
	}
	if r := w.send("/oauth/register", "application/json", `{"redirect_uris": ["`+callback+`"], "grant_types": ["client_credentials"]}`); r.text("error") != "invalid_client_metadata" {
		t.Errorf("%+v", r)
	}
}

func TestAFloodOfRegistrationsIsStopped(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	body := `{"client_name": "Flood", "redirect_uris": ["` + callback + `"], "token_endpoint_auth_method": "client_secret_basic"}`
	made, refused := 0, 0
	var mu sync.Mutex
	var all sync.WaitGroup
	for i := range 30 {
		all.Go(func() {
			from := "[2001:db8:1:" + strconv.FormatInt(int64(i+1), 16) + "::1]:1" // a site has a /48
			r := w.send("/oauth/register", "application/json", body, "From", from)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case r.Status == http.StatusCreated && r.text("token_endpoint_auth_method") == "none" && r.text("client_secret") == "":
				made++
			case r.Status == http.StatusTooManyRequests && r.Header.Get("Retry-After") != "":
				refused++
			default:
				t.Errorf("%+v", r)
			}
		})
	}
	all.Wait()
	if made != 20 || refused != 10 {
		t.Errorf("%d were registered and %d refused", made, refused)
	}
	if r := w.send("/oauth/register", "application/json", body); r.Status != http.StatusCreated {
		t.Errorf("from elsewhere: %+v", r)
	}
	kept := w.signedInAs()
	w.AsSystem(t, `update mcp_clients set created_at = created_at - interval '31 days'`, nil)
	if _, err := w.St.System().SweepExpired(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := w.Count(t, "mcp_clients"); n != 1 {
		t.Errorf("%d programs are left that nobody has let in, or the one that somebody has is gone", n)
	}
	if _, err := w.programs.Request(t.Context(), asks(kept)); err != nil {
		t.Errorf("the one that somebody let in: %v", err)
	}
}

// signedInAs is a program that signed in, by its id.
func (w *town) signedInAs() string {
	w.t.Helper()
	client := w.registers(callback)
	w.signedIn(client)
	return client
}

func TestStrangersCannotMakeUsStoreWithoutEnd(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	limits := store.RegistrationLimits{PerNetwork: 100, Since: time.Now().Add(-time.Hour), Waiting: 3}
	client := w.signedInAs()
	for i := range 6 {
		c := store.MCPClient{ID: store.NewAgentClientID().UUID, Name: "Flood", RedirectURIs: []string{callback}, CreatedAt: time.Now()}
		if err := w.St.System().Sessions().RegisterClient(t.Context(), c, "192.0.2."+strconv.Itoa(i), limits); err != nil {
			t.Fatal(err)
		}
	}
	if n := w.Count(t, "mcp_clients"); n != 4 {
		t.Errorf("%d programs are stored", n)
	}
	limits.Waiting = 8
	first := store.MCPClient{ID: store.NewAgentClientID().UUID, Name: "Waits", RedirectURIs: []string{callback}, CreatedAt: time.Now().Add(-time.Minute)}
	if err := w.St.System().Sessions().RegisterClient(t.Context(), first, "198.51.100.1", limits); err != nil {
		t.Fatal(err)
	}
	for range 12 { // of one network
		c := store.MCPClient{ID: store.NewAgentClientID().UUID, Name: "Flood", RedirectURIs: []string{callback}, CreatedAt: time.Now()}
		if err := w.St.System().Sessions().RegisterClient(t.Context(), c, "2001:db8:1::/48", limits); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.St.System().Sessions().MCPClient(t.Context(), first.ID); err != nil {
		t.Errorf("a flood from one network pushed another's program out: %v", err)
	}
	if n := w.Count(t, "mcp_clients"); n != 9 {
		t.Errorf("%d programs are stored", n)
	}
	if _, err := w.programs.Request(t.Context(), asks(client)); err != nil {
		t.Errorf("who signed in made room for them: %v", err)
	}
}

func TestAParameterThatComesTwiceIsRefused(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	client := w.registers(callback)
	for name := range asks(client) {
		q := asks(client)
		q.Add(name, "https://evil.example/")
		if _, err := w.programs.Request(t.Context(), q); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s twice: %v", name, err)
		}
	}
	code := w.allowed(w.ada, asks(client), connectors.Ref(w.agent.Slug)).Get("code")
	form := exchanges(client, code)
	form.Add("client_id", client)
	if r := w.token(form); r.text("error") != "invalid_request" {
		t.Errorf("%+v", r)
	}
	if r := w.send("/oauth/token", "application/json", `{}`); r.text("error") != "invalid_request" {
		t.Errorf("%+v", r)
	}
	if r := w.token(url.Values{"grant_type": {"password"}}); r.text("error") != "unsupported_grant_type" {
		t.Errorf("%+v", r)
	}
}

func TestARequestThatIsWrongLeadsNowhere(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	client := w.registers(callback)
	for name, change := range map[string][]string{
		"a token at once":         {"response_type", "token"},
		"no response type":        {"response_type", ""},
		"in a fragment":           {"response_mode", "fragment"},
		"by a request object":     {"request", "x"},
		"by reference":            {"request_uri", "https://evil.example/"},
		"no client":               {"client_id", ""},
		"an unknown client":       {"client_id", store.NewAgentClientID().String()},
		"a client in capitals":    {"client_id", strings.ToUpper(client)},
		"a resource elsewhere":    {"resource", "https://evil.example/mcp"},
		"a resource beside":       {"resource", baseURL + "/mcpx"},
		"a resource above":        {"resource", baseURL + "/"},
		"a resource with dots":    {"resource", baseURL + "/mcp/../api"},
		"a resource with a query": {"resource", baseURL + "/mcp?x=1"},
		"too long a state":        {"state", strings.Repeat("s", 2000)},
	} {
		if _, err := w.programs.Request(t.Context(), asks(client, change...)); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for resource, want := range map[string]string{"": "/mcp", baseURL + "/mcp": "/mcp", baseURL + "/mcp/": "/mcp", baseURL + "/mcp/linear": "/mcp/linear"} {
		if r, err := w.programs.Request(t.Context(), asks(client, "resource", resource)); err != nil || r.Resource != want {
			t.Errorf("%q: %q, %v", resource, r.Resource, err)
		}
	}
}
