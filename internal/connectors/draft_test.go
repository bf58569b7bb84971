package connectors_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
)

func newDraft(change func(*connectors.Draft)) connectors.Draft {
	d := connectors.NewDraft()
	d.Name, d.URL = "Linear", "https://mcp.linear.app/mcp"
	if change != nil {
		change(&d)
	}
	return d.Normalized()
}

func fieldLocations(fields []fault.Field) []string {
	var at []string
	for _, f := range fields {
		at = append(at, f.Location)
	}
	return at
}

func TestDraft_DefaultsAreValid(t *testing.T) {
	t.Parallel()
	d := newDraft(nil)
	if fields := d.Validate(); fields != nil {
		t.Error(fields)
	}
	if d.Slug != "linear" {
		t.Errorf("slug = %q", d.Slug)
	}
}

func TestDraft_Valid(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*connectors.Draft){
		"plain http":                func(d *connectors.Draft) { d.URL = "HTTP://127.0.0.1:3000" },
		"a query":                   func(d *connectors.Draft) { d.URL = "https://example.com/mcp?project=7&x=%20" },
		"IPv6":                      func(d *connectors.Draft) { d.URL = "http://[::1]:9000/mcp" },
		"JSON-only replies":         func(d *connectors.Draft) { d.Transport = connectors.TransportHTTP },
		"HTTP and SSE of 2024":      func(d *connectors.Draft) { d.Transport = connectors.TransportSSE },
		"never synced by itself":    func(d *connectors.Draft) { d.SyncInterval = 0 },
		"the least of every number": func(d *connectors.Draft) { d.Timeout, d.RetryAttempts, d.SyncInterval = time.Second, 0, time.Minute },
		"the most of every number":  func(d *connectors.Draft) { d.Timeout, d.RetryAttempts = 300*time.Second, 5 },
		"a name of 100 characters":  func(d *connectors.Draft) { d.Name = strings.Repeat("ü", 100) },
		"a header":                  func(d *connectors.Draft) { d.Headers = map[string]string{"X-Team": "eu"} },
		"a key in Authorization": func(d *connectors.Draft) {
			d.Auth = connectors.Auth{Type: connectors.AuthAPIKey, Header: "Authorization"}
		},
		"a name without any letters": func(d *connectors.Draft) { d.Name = "线性" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if fields := newDraft(change).Validate(); fields != nil {
				t.Error(fields)
			}
		})
	}
}

func TestDraft_InvalidFields(t *testing.T) {
	t.Parallel()
	header := func(name, value string) func(*connectors.Draft) {
		return func(d *connectors.Draft) { d.Headers = map[string]string{name: value} }
	}
	url := func(u string) func(*connectors.Draft) { return func(d *connectors.Draft) { d.URL = u } }
	for name, tc := range map[string]struct {
		at     string
		change func(*connectors.Draft)
	}{
		"no name":                  {"name", func(d *connectors.Draft) { d.Name = "  " }},
		"a long name":              {"name", func(d *connectors.Draft) { d.Name = strings.Repeat("a", 101) }},
		"a name with a line break": {"name", func(d *connectors.Draft) { d.Name = "a\nb" }},
		"a slug with a capital":    {"slug", func(d *connectors.Draft) { d.Slug = "Linear" }},
		"a slug of 49 characters":  {"slug", func(d *connectors.Draft) { d.Slug = strings.Repeat("a", 49) }},
		"a slug with an underline": {"slug", func(d *connectors.Draft) { d.Slug = "a_b" }},
		"a slug that ends badly":   {"slug", func(d *connectors.Draft) { d.Slug = "a-" }},
		"a long description":       {"description", func(d *connectors.Draft) { d.Description = strings.Repeat("a", 2001) }},
		"a NUL":                    {"description", func(d *connectors.Draft) { d.Description = "a\x00b" }},
		"no URL":                   {"url", url("")},
		"a relative URL":           {"url", url("/mcp")},
		"another scheme":           {"url", url("ftp://example.com/")},
		"no host":                  {"url", url("https:///mcp")},
		"only a port":              {"url", url("https://:443/mcp")},
		"userinfo":                 {"url", url("https://user:pass@example.com/")},
		"empty userinfo":           {"url", url("https://@example.com/")},
		"a fragment":               {"url", url("https://example.com/#x")},
		"an empty fragment":        {"url", url("https://example.com/#")},
		"white space":              {"url", url("https://example.com/a b")},
		"a backslash":              {"url", url(`https://example.com\@evil.example/`)},
		"a long URL":               {"url", url("https://example.com/" + strings.Repeat("a", 2048))},
		"an unknown transport":     {"transport", func(d *connectors.Draft) { d.Transport = "pigeon" }},
		"an unknown mode":          {"credential_mode", func(d *connectors.Draft) { d.CredentialMode = "all" }},
		"an unknown policy":        {"tool_changes", func(d *connectors.Draft) { d.ToolChanges = "maybe" }},
		"an unknown auth type":     {"auth.type", func(d *connectors.Draft) { d.Auth.Type = "magic" }},
		"a header without a key":   {"auth.header", func(d *connectors.Draft) { d.Auth = connectors.Auth{Type: connectors.AuthBearer, Header: "X-Key"} }},
		"a key in a wrong header":  {"auth.header", func(d *connectors.Draft) { d.Auth = connectors.Auth{Type: connectors.AuthAPIKey, Header: "Host"} }},
		"a key in no header":       {"auth.header", func(d *connectors.Draft) { d.Auth = connectors.Auth{Type: connectors.AuthAPIKey, Header: "a b"} }},
		"a short timeout":          {"timeout_ms", func(d *connectors.Draft) { d.Timeout = 999 * time.Millisecond }},
		"a long timeout":           {"timeout_ms", func(d *connectors.Draft) { d.Timeout = 301 * time.Second }},
		"six retries":              {"retry_attempts", func(d *connectors.Draft) { d.RetryAttempts = 6 }},
		"negative retries":         {"retry_attempts", func(d *connectors.Draft) { d.RetryAttempts = -1 }},
		"a short interval":         {"sync_interval_s", func(d *connectors.Draft) { d.SyncInterval = 59 * time.Second }},
		"a negative interval":      {"sync_interval_s", func(d *connectors.Draft) { d.SyncInterval = -time.Minute }},
		"a credential as header":   {"headers.authorization", header("authorization", "Bearer x")},
		"a cookie":                 {"headers.Cookie", header("Cookie", "a=b")},
		"a proxy's credential":     {"headers.Proxy-Authorization", header("Proxy-Authorization", "x")},
		"the protocol's header":    {"headers.Mcp-Session-Id", header("Mcp-Session-Id", "x")},
		"the connection's header":  {"headers.Transfer-Encoding", header("Transfer-Encoding", "x")},
		"Host":                     {"headers.Host", header("Host", "x")},
		"Accept-Encoding":          {"headers.Accept-Encoding", header("Accept-Encoding", "x")},
		"a broken header name":     {"headers.a b", header("a b", "x")},
		"a header's line break":    {"headers.X-A", header("X-A", "x\r\nX-B: y")},
		"large headers":            {"headers", header("X-A", strings.Repeat("x", 9<<10))},
		"a header twice": {"headers.x-a", func(d *connectors.Draft) {
			d.Headers = map[string]string{"X-A": "1", "x-a": "2"}
		}},
		"the key's header": {"headers.x-api-key", func(d *connectors.Draft) {
			d.Auth.Type, d.Headers = connectors.AuthAPIKey, map[string]string{"x-api-key": "1"}
		}},
		"33 headers": {"headers", func(d *connectors.Draft) {
			d.Headers = map[string]string{}
			for i := range 33 {
				d.Headers[fmt.Sprintf("X-%d", i)] = ""
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fields := newDraft(tc.change).Validate()
			if diff := cmp.Diff([]string{tc.at}, fieldLocations(fields)); diff != "" {
				t.Error(diff)
			}
			for _, f := range fields {
				if !strings.HasSuffix(f.Message, ".") || strings.Contains(f.Message, "%!") {
					t.Errorf("no sentence: %q", f.Message)
				}
			}
		})
	}
}

func TestDraft_ReturnsAllFaults(t *testing.T) {
	t.Parallel()
	d := newDraft(func(d *connectors.Draft) { d.Name, d.Slug, d.URL, d.Timeout = "", "x", "nonsense", 0 })
	if diff := cmp.Diff([]string{"name", "url", "timeout_ms"}, fieldLocations(d.Validate())); diff != "" {
		t.Error(diff)
	}
}

func TestDraft_ValidatesSecret(t *testing.T) {
	t.Parallel()
	auth := func(typ connectors.AuthType, mode connectors.CredentialMode) connectors.Draft {
		return newDraft(func(d *connectors.Draft) { d.Auth.Type, d.CredentialMode = typ, mode })
	}
	shared, perAgent := connectors.CredentialShared, connectors.CredentialPerAgent
	for name, tc := range map[string]struct {
		draft  connectors.Draft
		secret connectors.Secret
		needed bool
		at     []string
	}{
		"none, nothing":             {auth("none", shared), connectors.Secret{}, true, nil},
		"none, a token":             {auth("none", shared), connectors.Secret{Token: "t"}, true, []string{"auth.token"}},
		"bearer":                    {auth("bearer", shared), connectors.Secret{Token: "t"}, true, nil},
		"bearer, nothing":           {auth("bearer", shared), connectors.Secret{}, true, []string{"auth.token"}},
		"bearer, the stored one":    {auth("bearer", shared), connectors.Secret{}, false, nil},
		"bearer, a key":             {auth("bearer", shared), connectors.Secret{Key: "k"}, false, []string{"auth.token", "auth.key"}},
		"bearer with its word":      {auth("bearer", shared), connectors.Secret{Token: "bearer t"}, true, []string{"auth.token"}},
		"bearer with a line break":  {auth("bearer", shared), connectors.Secret{Token: "a\r\nb"}, true, []string{"auth.token"}},
		"bearer beyond ASCII":       {auth("bearer", shared), connectors.Secret{Token: "tökén"}, true, []string{"auth.token"}},
		"a huge key":                {auth("api_key", shared), connectors.Secret{Key: "k"}, true, nil},
		"basic":                     {auth("basic", shared), connectors.Secret{Username: "u", Password: "p"}, true, nil},
		"basic, no password":        {auth("basic", shared), connectors.Secret{Username: "u"}, true, nil},
		"basic, no user name":       {auth("basic", shared), connectors.Secret{Password: "p"}, true, []string{"auth.username"}},
		"basic, a colon":            {auth("basic", shared), connectors.Secret{Username: "a:b", Password: "p"}, true, []string{"auth.username"}},
		"per agent, nothing":        {auth("bearer", perAgent), connectors.Secret{}, true, nil},
		"per agent, a token":        {auth("bearer", perAgent), connectors.Secret{Token: "t"}, true, []string{"auth.token"}},
		"per agent, basic's fields": {auth("basic", perAgent), connectors.Secret{Username: "u", Password: "p"}, true, []string{"auth.username", "auth.password"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.at, fieldLocations(tc.draft.ValidateSecret(tc.secret, tc.needed))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestSecret_DecodesAndNeverPrints(t *testing.T) {
	t.Parallel()
	s := connectors.Secret{Token: "t\"<&>", Key: "k", Username: "u", Password: "pä\x01"}
	text, err := s.Encode()
	if err != nil {
		t.Fatal(err)
	}
	back, err := connectors.DecodeSecret(text)
	if err != nil || back != s {
		t.Errorf("back = %v, %v", back == s, err)
	}
	for _, shown := range []string{fmt.Sprintf("%v %+v", s, s), fmt.Sprint(text)} {
		if strings.Contains(shown, `t"`) || strings.Contains(shown, "pä") {
			t.Errorf("shown: %s", shown)
		}
	}
	if _, err := connectors.DecodeSecret("not JSON t0ken"); err == nil || strings.Contains(err.Error(), "t0ken") {
		t.Errorf("decode: %v", err)
	}
}

func TestSlug_OfNames(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"Linear":                               "linear",
		"  My   Server! ":                      "my-server",
		"Straße – Île d'Œuvre":                 "strasse-ile-doeuvre",
		"ŁÓDŹ Ørsted":                          "lodz-orsted",
		"a__b--c":                              "a-b-c",
		"线性":                                   "fallback",
		"":                                     "fallback",
		strings.Repeat("ab ", 40):              strings.Repeat("ab-", 15) + "ab",
		"---":                                  "fallback",
		"x":                                    "x",
		"New":                                  "new-fallback",
		"01a1fc26-6580-76b4-afdf-295314fc6074": "01a1fc26-6580-76b4-afdf-295314fc6074-fallback",
	} {
		got := connectors.Slug(name, "fallback")
		if got != want {
			t.Errorf("Slug(%q) = %q, want %q", name, got, want)
		}
		if !connectors.ValidSlug(got) {
			t.Errorf("Slug(%q) = %q, which is none", name, got)
		}
	}
}

func TestSlug_ReservedIsRefused(t *testing.T) {
	t.Parallel()
	for _, slug := range []string{"new", "test", "admin", "01a1fc26-6580-76b4-afdf-295314fc6074"} {
		d := connectors.NewDraft()
		d.Name, d.URL, d.Slug = "Linear", "https://mcp.example.com/", slug
		if fields := d.Validate(); len(fields) != 1 || fields[0].Location != "slug" {
			t.Errorf("%s: %+v", slug, fields)
		}
	}
}

// FuzzSlug checks that any name gives a valid slug.
func FuzzSlug(f *testing.F) {
	for _, s := range []string{"Linear", "a-", "ÀÉ", strings.Repeat("é-", 60), "\xff\xfe", "İ"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if s := connectors.Slug(name, "fallback"); !connectors.ValidSlug(s) {
			t.Errorf("Slug(%q) = %q, which is none", name, s)
		}
	})
}

func TestOrigin_IgnoresPathAndCase(t *testing.T) {
	t.Parallel()
	same := []string{"https://Example.com/mcp", "https://example.com:443/other?x=1", "HTTPS://EXAMPLE.COM"}
	for _, u := range same {
		if got := connectors.Origin(u); got != "https://example.com:443" {
			t.Errorf("Origin(%q) = %q", u, got)
		}
	}
	others := []string{"http://example.com/", "https://example.com:8443/", "https://sub.example.com/", "nonsense", ""}
	for i, u := range others {
		if slices.Contains(same, u) || connectors.Origin(u) == "https://example.com:443" {
			t.Errorf("%d: Origin(%q) = %q", i, u, connectors.Origin(u))
		}
	}
}

func TestAgent_Validate(t *testing.T) {
	t.Parallel()
	if fields := (connectors.Agent{Name: "Research Bot"}).Normalized().Validate(); fields != nil {
		t.Error(fields)
	}
	bad := connectors.Agent{Name: "", Slug: "A", Approval: "never"}.Normalized()
	if diff := cmp.Diff([]string{"name", "slug", "approval"}, fieldLocations(bad.Validate())); diff != "" {
		t.Error(diff)
	}
}
