package middleware_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/go-chi/chi/v5"
	chimiddleware "github.com/go-chi/chi/v5/middleware"

	"patchbay/internal/auth"
	"patchbay/internal/fault"
	"patchbay/internal/middleware"
)

// testEnvelope serves a router with the whole envelope.
type testEnvelope struct {
	router *chi.Mux
	log    bytes.Buffer
}

func newEnvelope(t *testing.T, base string, trusted ...netip.Prefix) *testEnvelope {
	t.Helper()
	u, err := url.Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	e := &testEnvelope{router: chi.NewRouter()}
	e.router.Use(middleware.Chain(middleware.Options{
		BaseURL: u, TrustedProxies: trusted, Log: slog.New(slog.NewJSONHandler(&e.log, nil)), Refuse: refuse,
	})...)
	return e
}

// refuse writes the fault's kind, with status 403 for Denied.
func refuse(w http.ResponseWriter, _ *http.Request, err error) {
	status := http.StatusInternalServerError
	if fault.Is(err, fault.Denied) {
		status = http.StatusForbidden
	}
	http.Error(w, fault.As(err).Kind.String(), status)
}

func (e *testEnvelope) do(r *http.Request) *httptest.ResponseRecorder {
	rec := httptest.NewRecorder()
	e.router.ServeHTTP(rec, r)
	return rec
}

func hello(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = io.WriteString(w, strings.Repeat("hello ", 100))
}

func TestHeaders_AreSet(t *testing.T) {
	t.Parallel()
	for base, hsts := range map[string]bool{"http://localhost:8080": false, "https://patchbay.example.com": true} {
		e := newEnvelope(t, base)
		e.router.Get("/", hello)
		h := e.do(httptest.NewRequest(http.MethodGet, "/", nil)).Header()
		csp := h.Get("Content-Security-Policy")
		for _, want := range []string{"default-src 'none'", "script-src 'self'", "style-src 'self'", "frame-ancestors 'none'", "base-uri 'none'"} {
			if !strings.Contains(csp, want) {
				t.Errorf("policy lacks %s: %s", want, csp)
			}
		}
		if strings.Contains(csp, "unsafe") {
			t.Errorf("policy allows something unsafe: %s", csp)
		}
		for name, want := range map[string]string{"X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin", "Cache-Control": "no-store", "Cross-Origin-Opener-Policy": "same-origin",
			"Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()"} {
			if h.Get(name) != want {
				t.Errorf("%s: %q", name, h.Get(name))
			}
		}
		if (h.Get("Strict-Transport-Security") != "") != hsts {
			t.Errorf("%s: HSTS %q", base, h.Get("Strict-Transport-Security"))
		}
	}
}

func TestSameOrigin_RefusesCrossSiteWrites(t *testing.T) {
	t.Parallel()
	const base = "https://patchbay.example.com"
	for name, tc := range map[string]struct {
		header http.Header
		want   int
	}{
		"our own page":                          {http.Header{"Sec-Fetch-Site": {"same-origin"}, "Origin": {base}}, 200},
		"our own page, an old browser, proxied": {http.Header{"Origin": {base}}, 200},
		"another site":                          {http.Header{"Sec-Fetch-Site": {"cross-site"}, "Origin": {"https://evil.example"}}, 403},
		"a sibling site":                        {http.Header{"Sec-Fetch-Site": {"same-site"}, "Origin": {"https://x.example.com"}}, 403},
		"another site, an old browser":          {http.Header{"Origin": {"https://evil.example"}}, 403},
		"an opaque origin":                      {http.Header{"Origin": {"null"}}, 403},
		"a program without browser headers":     {http.Header{}, 200},
		"another site, behind a password":       {http.Header{"Authorization": {"Basic eDp5"}, "Origin": {"https://evil.example"}}, 403},
		"a program with a key":                  {http.Header{"Authorization": {"Bearer x"}, "Origin": {"https://evil.example"}}, 200},
	} {
		e := newEnvelope(t, base)
		e.router.Post("/", hello)
		r := httptest.NewRequest(http.MethodPost, "http://10.0.0.5:8080/", nil) // the name that a proxy uses
		r.Header = tc.header
		if rec := e.do(r); rec.Code != tc.want {
			t.Errorf("%s: %d, want %d", name, rec.Code, tc.want)
		}
	}
}

func TestLog_NamesRouteAndNoSecret(t *testing.T) {
	t.Parallel()
	e := newEnvelope(t, "http://localhost")
	identify := func(r *http.Request) (context.Context, []slog.Attr, error) {
		return r.Context(), []slog.Attr{slog.String("tenant_id", "t-1")}, nil
	}
	e.router.With(middleware.Authenticate(identify, refuse)).Get("/setup/{what}", hello)
	r := httptest.NewRequest(http.MethodGet, "/setup/secret-path?token=secret-query", nil)
	r.Header.Set("Authorization", "Bearer secret-header")
	r.Header.Set("Cookie", "patchbay=secret-cookie")
	rec := e.do(r)
	line := e.log.String()
	for _, want := range []string{
		`"route":"/setup/{what}"`, `"method":"GET"`, `"status":200`, `"tenant_id":"t-1"`, `"address":"192.0.2.1"`,
		`"request_id":"` + rec.Header().Get("X-Request-Id") + `"`,
	} {
		if !strings.Contains(line, want) {
			t.Errorf("no %s in %s", want, line)
		}
	}
	if strings.Contains(line, "secret") {
		t.Errorf("the line holds a secret: %s", line)
	}
}

func TestLog_ClientGoneIsNoWarning(t *testing.T) {
	t.Parallel()
	e := newEnvelope(t, "http://localhost")
	e.router.Get("/slow", func(w http.ResponseWriter, r *http.Request) {
		<-r.Context().Done()
		w.WriteHeader(http.StatusInternalServerError)
	})
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	e.do(httptest.NewRequest(http.MethodGet, "/slow", nil).WithContext(gone))
	if line := e.log.String(); !strings.Contains(line, `"level":"INFO"`) || !strings.Contains(line, `"status":499`) {
		t.Errorf("logged %s", line)
	}
	e.log.Reset()
	late, cancel := context.WithTimeout(t.Context(), 0)
	defer cancel()
	e.do(httptest.NewRequest(http.MethodGet, "/slow", nil).WithContext(late))
	if line := e.log.String(); !strings.Contains(line, `"level":"WARN"`) || !strings.Contains(line, `"status":500`) {
		t.Errorf("logged %s", line)
	}
}

func TestIdentify_RefusesUnidentified(t *testing.T) {
	t.Parallel()
	stranger := func(*http.Request) (context.Context, []slog.Attr, error) {
		return nil, nil, fault.Errorf(fault.Denied, "No.")
	}
	h := middleware.Authenticate(stranger, refuse)(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		t.Error("a stranger got through")
	}))
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, httptest.NewRequest(http.MethodGet, "/", nil))
	if rec.Code != http.StatusForbidden {
		t.Errorf("%d", rec.Code)
	}
}

func TestRequestID_KeepsSafeIDsOnly(t *testing.T) {
	t.Parallel()
	for given, kept := range map[string]bool{"0af7651916cd43dd": true, "short": false, "a\"quote-and-more": false, strings.Repeat("a", 65): false, "": false} {
		e := newEnvelope(t, "http://localhost", netip.MustParsePrefix("192.0.2.0/24")) // the peer address of httptest requests
		var seen string
		e.router.Get("/", func(_ http.ResponseWriter, r *http.Request) { seen = chimiddleware.GetReqID(r.Context()) })
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Header.Set("X-Request-Id", given)
		answered := e.do(r).Header().Get("X-Request-Id")
		if seen == "" || answered != seen || (seen == given) != kept {
			t.Errorf("%q became %q, answered %q", given, seen, answered)
		}
	}
}

func TestRequestID_FromTrustedProxyOnly(t *testing.T) {
	t.Parallel()
	const given = "somebody-elses-request"
	proxies := []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("fe80::/10")}
	for remote, trusted := range map[string][]netip.Prefix{
		"192.0.2.1:1234": proxies, "[::ffff:192.0.2.1]:1234": proxies, "[fe80::1%eth0]:80": proxies, // trusted peers
		"198.51.100.1:1234": proxies, "[2001:db8::1]:80": proxies, "@": proxies, "": proxies, "192.0.2.2:1234": nil,
	} {
		e := newEnvelope(t, "http://localhost", trusted...)
		var seen string
		e.router.Get("/", func(_ http.ResponseWriter, r *http.Request) { seen = chimiddleware.GetReqID(r.Context()) })
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.RemoteAddr = remote
		r.Header["X-Request-Id"] = []string{given}
		r.Header["X-Forwarded-For"] = []string{"192.0.2.1"}
		kept := trusted != nil && (strings.Contains(remote, "192.0.2.") || strings.Contains(remote, "fe80"))
		answered := e.do(r).Header().Get("X-Request-Id")
		if seen == "" || answered != seen || (seen == given) != kept {
			t.Errorf("from %q, behind %v: %q, answered %q", remote, trusted, seen, answered)
		}
		if in := middleware.RequestIDFunc(trusted)(http.Header{}, r); in == "" || (in == given) != kept {
			t.Errorf("from %q, behind %v, in front of the envelope: %q", remote, trusted, in)
		}
		if strings.Contains(e.log.String(), given) != kept {
			t.Errorf("from %q: the log has %s", remote, e.log.String())
		}
	}
}

func TestClientAddress_UsesTrustedProxiesOnly(t *testing.T) {
	t.Parallel()
	proxy := netip.MustParsePrefix("192.0.2.0/24") // the peer address of httptest requests
	for name, tc := range map[string]struct {
		trusted []netip.Prefix
		want    string
	}{
		"nobody is trusted":   {nil, "192.0.2.1"},
		"the peer is trusted": {[]netip.Prefix{proxy}, "203.0.113.9"},
		"others are trusted":  {[]netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}, "192.0.2.1"},
		"all are proxies":     {[]netip.Prefix{proxy, netip.MustParsePrefix("203.0.113.0/24"), netip.MustParsePrefix("198.51.100.0/24")}, "192.0.2.1"},
	} {
		e := newEnvelope(t, "http://localhost", tc.trusted...)
		var seen string
		e.router.Get("/", func(_ http.ResponseWriter, r *http.Request) { seen = chimiddleware.GetClientIP(r.Context()) })
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Header.Set("X-Forwarded-For", "198.51.100.1, 203.0.113.9")
		e.do(r)
		if seen != tc.want {
			t.Errorf("%s: %s, want %s", name, seen, tc.want)
		}
	}
}

func TestRecover_AnswersAndLogsWithoutValue(t *testing.T) {
	t.Parallel()
	e := newEnvelope(t, "http://localhost")
	e.router.Get("/", func(http.ResponseWriter, *http.Request) { panic("a secret") })
	rec := e.do(httptest.NewRequest(http.MethodGet, "/", nil))
	if rec.Code != http.StatusInternalServerError || !strings.Contains(e.log.String(), "panic recovered") {
		t.Errorf("%d, %s", rec.Code, e.log.String())
	}
	if strings.Contains(rec.Body.String()+e.log.String(), "a secret") {
		t.Errorf("the panic's value is told: %s %s", rec.Body, e.log.String())
	}
}

func TestRecover_AfterFirstByteAborts(t *testing.T) {
	t.Parallel()
	e := newEnvelope(t, "http://localhost")
	e.router.Get("/", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "half")
		panic(errors.New("no more"))
	})
	defer func() {
		if err, ok := recover().(error); !ok || !errors.Is(err, http.ErrAbortHandler) {
			t.Errorf("recovered %v", err)
		}
	}()
	e.do(httptest.NewRequest(http.MethodGet, "/", nil))
}

func TestLimitBody(t *testing.T) {
	t.Parallel()
	e := newEnvelope(t, "http://localhost")
	var failed error
	e.router.Post("/", func(_ http.ResponseWriter, r *http.Request) { _, failed = io.Copy(io.Discard, r.Body) })
	e.do(httptest.NewRequest(http.MethodPost, "/", strings.NewReader(strings.Repeat("x", middleware.MaxBody))))
	if failed != nil {
		t.Errorf("4 MiB: %v", failed)
	}
	e.do(httptest.NewRequest(http.MethodPost, "/", strings.NewReader(strings.Repeat("x", middleware.MaxBody+1))))
	if _, ok := errors.AsType[*http.MaxBytesError](failed); !ok {
		t.Errorf("one byte more: %v", failed)
	}
}

func TestCompress_SkipsEventStreams(t *testing.T) {
	t.Parallel()
	e := newEnvelope(t, "http://localhost")
	e.router.Get("/page", hello)
	e.router.Get("/events", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, ": hello\n\n")
		if err := http.NewResponseController(w).Flush(); err != nil {
			t.Errorf("flush: %v", err)
		}
	})
	r := httptest.NewRequest(http.MethodGet, "/page", nil)
	r.Header.Set("Accept-Encoding", "gzip")
	rec := e.do(r)
	unzipped, err := gzip.NewReader(rec.Body)
	if err != nil {
		t.Fatalf("%v: %v", rec.Header(), err)
	}
	if text, err := io.ReadAll(unzipped); err != nil || !strings.HasPrefix(string(text), "hello hello") {
		t.Errorf("%q, %v", text, err)
	}
	r = httptest.NewRequest(http.MethodGet, "/events", nil)
	r.Header.Set("Accept-Encoding", "gzip")
	if rec := e.do(r); rec.Body.String() != ": hello\n\n" || !rec.Flushed {
		t.Errorf("%q, flushed %v", rec.Body, rec.Flushed)
	}
}

func TestAllowFormsTo_AddsSources(t *testing.T) {
	t.Parallel()
	h := middleware.Headers(false)(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/wide" {
			middleware.AllowFormsTo(w.Header(), "https://accounts.example.com", "", "https:; script-src *", "https:\r\nX-Evil: 1")
		}
	}))
	for path, want := range map[string]string{"/": "form-action 'self'", "/wide": "form-action 'self' https://accounts.example.com"} {
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, httptest.NewRequest(http.MethodGet, path, nil))
		csp := rec.Header().Get("Content-Security-Policy")
		if !strings.HasSuffix(csp, want) || !strings.Contains(csp, "script-src 'self';") {
			t.Errorf("%s: %s", path, csp)
		}
	}
}

// The address in front of the envelope must equal that in the envelope and in the audit log.
func TestClientAddressFunc_AgreesWithMiddleware(t *testing.T) {
	t.Parallel()
	for _, tc := range addresses {
		sameAddress(t, tc.remote, tc.forwarded...)
	}
}

// addresses are requests: the peer and its X-Forwarded-For.
var addresses = []struct {
	remote    string
	forwarded []string
}{
	{"192.0.2.1:1234", nil}, {"192.0.2.1:1234", []string{"203.0.113.9"}}, {"203.0.113.1:1234", []string{"203.0.113.9"}},
	{"192.0.2.1:1234", []string{"198.51.100.1, 203.0.113.9, 192.0.2.7"}}, {"192.0.2.1:1234", []string{"203.0.113.9", "192.0.2.7"}},
	{"192.0.2.1:1234", []string{"203.0.113.9, unknown"}}, {"192.0.2.1:1234", []string{"203.0.113.9,, ,"}}, {"192.0.2.1:1234", []string{""}},
	{"192.0.2.1:1234", []string{"192.0.2.9"}}, {"192.0.2.1:1234", []string{"::ffff:203.0.113.9"}}, {"192.0.2.1:1234", []string{"2001:db8::9%eth0"}},
	{"192.0.2.1:1234", []string{"[2001:db8::9]"}}, {"192.0.2.1:1234", []string{"203.0.113.9:80"}}, {"[::ffff:192.0.2.1]:1234", []string{"203.0.113.9"}},
	{"[2001:db8:1::1]:1234", []string{"2001:db8::9, 192.0.2.7"}}, {"[2001:db8::1]:1234", []string{"203.0.113.9"}}, {"[fe80::1%eth0]:80", []string{"203.0.113.9"}},
	{"192.0.2.1", []string{"203.0.113.9"}}, {"2001:db8::1", nil}, {"@", []string{"203.0.113.9"}}, {"", nil}, {"[192.0.2.1]:80", []string{"203.0.113.9"}}, {"192.0.2.1:http", []string{"203.0.113.9"}},
}

func sameAddress(t *testing.T, remote string, forwarded ...string) {
	t.Helper()
	for _, trusted := range [][]netip.Prefix{nil, {netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("2001:db8:1::/48")}, {netip.MustParsePrefix("fe80::/10")}} {
		r := &http.Request{RemoteAddr: remote, Header: http.Header{}}
		if forwarded != nil {
			r.Header["X-Forwarded-For"] = forwarded
		}
		var want netip.Addr
		var recorded string
		middleware.ClientAddress(trusted)(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			want, recorded = chimiddleware.GetClientIPAddr(r.Context()), auth.Address(r)
		})).ServeHTTP(nil, r)
		have := middleware.ClientAddressFunc(trusted)(r)
		if at, _ := netip.ParseAddr(recorded); have != want || have != at {
			t.Errorf("%q, forwarded for %q, behind %v: %v, want %v, and the audit log has %q", remote, forwarded, trusted, have, want, recorded)
		}
		if peer, err := netip.ParseAddrPort(remote); err == nil && peer.Addr().IsValid() && !have.IsValid() {
			t.Errorf("%q, forwarded for %q, behind %v, comes from nowhere", remote, forwarded, trusted)
		}
	}
}

func TestRequestID_IsUnique(t *testing.T) {
	t.Parallel()
	const many, together = 1000, 4
	names := make(chan string, many*together)
	var all sync.WaitGroup
	nameRequest := middleware.RequestIDFunc(nil)
	for range together {
		all.Go(func() {
			for range many {
				answer := http.Header{}
				name := nameRequest(answer, &http.Request{Header: http.Header{}})
				if len(answer["X-Request-Id"]) != 1 || answer["X-Request-Id"][0] != name {
					t.Errorf("%q is answered as %q", name, answer)
				}
				answer.Add("X-Request-Id", "another") // the header must not be shared
				names <- name
			}
		})
	}
	all.Wait()
	close(names)
	seen := map[string]bool{}
	for name := range names {
		if seen[name] || len(name) != 26 {
			t.Fatalf("%q, twice: %v", name, seen[name])
		}
		seen[name] = true
	}
}
