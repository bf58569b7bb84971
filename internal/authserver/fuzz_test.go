package authserver

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// A program's document is a stranger's text. Whatever is taken from it can be shown, and leads nowhere that a browser may not be sent.
func FuzzClientDocument(f *testing.F) {
	const id = "https://program.example.com/client.json"
	for _, seed := range []string{
		`{"client_id": "https://program.example.com/client.json", "client_name": "A", "redirect_uris": ["http://127.0.0.1/cb"]}`,
		`{"client_id": "https://program.example.com/client.json", "client_name": "\u202eA\u0000", "redirect_uris": ["https://program.example.com/cb", "cursor://x"]}`,
		`{"client_id": "https://program.example.com/client.json", "redirect_uris": ["javascript:alert(1)"]}`,
		`{"client_id": "https://elsewhere.example.com/", "redirect_uris": []}`,
		`{"client_id": "https://program.example.com/client.json", "client_secret": "x", "redirect_uris": ["https://a.example"]}`,
		`[]`, `null`, `{`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		c, err := parseClient(id, "program.example.com", body)
		if err != nil {
			return
		}
		if c.ID != id || c.Host != "program.example.com" || c.Name == "" || utf8.RuneCountInString(c.Name) > maxClientName || strings.ContainsAny(c.Name, "\n\r\t\u202e\u0000") {
			t.Errorf("%s becomes %+v", body, c)
		}
		for _, uri := range c.RedirectURIs {
			if !c.hasRedirectURI(uri) {
				t.Errorf("%s: its own address %q is none", body, uri)
			}
		}
	})
}

// An answer goes to an address that the program named, or on the person's own machine to another port of it.
func FuzzRedirectURI(f *testing.F) {
	for _, seed := range [][2]string{
		{"https://a.example/cb", "https://a.example/cb"}, {"http://127.0.0.1/cb", "http://127.0.0.1:7777/cb"}, {"http://localhost:1/cb?x=1", "http://localhost:2/cb?x=1"},
		{"http://[::1]/", "http://[::1]:80/"}, {"https://a.example/cb", "https://a.example:443/cb"}, {"https://a.example/cb", "https://a.example@evil.example/cb"},
		{"http://127.0.0.1/cb", "http://127.0.0.1:1@evil.example/cb"}, {"http://127.0.0.1", "http://127.0.0.1:80.evil.example"}, {"com.example.app:/cb", "com.example.app:/cb"},
		{"cursor://x", "CURSOR://x"}, {"http://127.0.0.1/cb", "http://127.0.0.1\\@evil.example/cb"},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, known, asked string) {
		if !(Client{RedirectURIs: []string{known}}).hasRedirectURI(asked) {
			return
		}
		u, err := url.Parse(asked)
		if err != nil {
			t.Fatalf("%q is sent to, and is no address: %v", asked, err)
		}
		if asked != known {
			k, err := url.Parse(known)
			if err != nil || u.Scheme != "http" || k.Scheme != "http" || u.Hostname() != k.Hostname() || !isLoopbackHost(u.Hostname()) || u.RequestURI() != k.RequestURI() || u.User != nil {
				t.Errorf("%q is taken for %q", asked, known)
			}
		}
		to, err := url.Parse(addParameters(asked, url.Values{"code": {"c&d=e#f"}, "iss": {"https://patchbay.example"}}))
		if err != nil || to.Scheme != u.Scheme || to.Host != u.Host || to.Path != u.Path || to.Fragment != "" || !slices.Contains(to.Query()["code"], "c&d=e#f") {
			t.Errorf("the answer to %q goes to %v, %v", asked, to, err)
		}
	})
}

// What a resource is read as is one address of the gateway.
func FuzzResource(f *testing.F) {
	s := &Server{issuer: "https://patchbay.example.com"}
	for _, seed := range []string{
		"", "https://patchbay.example.com/mcp", "https://patchbay.example.com/mcp/", "https://patchbay.example.com/mcp/linear", "https://patchbay.example.com/mcp/../admin",
		"https://patchbay.example.com/mcpx", "https://patchbay.example.com.evil.example/mcp", "https://patchbay.example.com/mcp?x", "https://patchbay.example.com/mcp/%2e%2e",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		path, ok := s.parseResource(raw)
		if !ok {
			return
		}
		slug := strings.TrimPrefix(strings.TrimPrefix(path, gatewayPath), "/")
		if !strings.HasPrefix(path, gatewayPath) || strings.ContainsAny(slug, "/.%?#\\ ") || raw != "" && strings.TrimSuffix(raw, "/") != s.issuer+path {
			t.Errorf("%q is read as %q", raw, path)
		}
	})
}

// What a program sends to the token endpoint says each thing once.
func FuzzTokenForm(f *testing.F) {
	for _, seed := range []string{
		"grant_type=authorization_code&code=x&client_id=y&code_verifier=z", "grant_type=refresh_token&refresh_token=pb_refresh_x", "a=1&a=2", "%", "client_id=%00&=", strings.Repeat("a=1&", 100),
	} {
		f.Add(seed, "")
		f.Add(seed, "Basic eDo=")
	}
	f.Fuzz(func(t *testing.T, body, authorization string) {
		r := httptest.NewRequest(http.MethodPost, "https://patchbay.example.com/oauth/token?code=from-the-address", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Authorization", authorization)
		values, err := parseForm(r)
		if err != nil {
			return
		}
		for name, all := range values {
			if len(all) != 1 {
				t.Errorf("%q says %q %d times", body, name, len(all))
			}
		}
		if strings.Contains(values.Get("code"), "from-the-address") && !strings.Contains(body, "from-the-address") {
			t.Error("a code is read from the address, which logs keep")
		}
	})
}

// What a program says of itself when it registers.
func FuzzRegistration(f *testing.F) {
	for _, seed := range []string{
		`{"client_name": "A", "redirect_uris": ["http://127.0.0.1/cb"], "grant_types": ["authorization_code", "refresh_token"], "response_types": ["code"]}`,
		`{"redirect_uris": ["data:text/html,x"]}`, `{"redirect_uris": null}`, `{"redirect_uris": [1]}`, `{"client_name": {"a": 1}}`, ``,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var asked clientRegistration
		if json.Unmarshal(body, &asked) != nil || checkRedirectURIs(asked.RedirectURIs) != "" {
			return
		}
		for _, uri := range asked.RedirectURIs {
			u, err := url.Parse(uri)
			if err != nil || slices.Contains([]string{"javascript", "data", "file", "vbscript", "blob", "about", "http"}, strings.ToLower(u.Scheme)) && !isLoopbackHost(u.Hostname()) {
				t.Errorf("a browser would be sent to %q", uri)
			}
		}
	})
}
