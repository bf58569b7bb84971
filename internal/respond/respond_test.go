package respond_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/a-h/templ"
	"github.com/alexedwards/scs/v2"
	"github.com/google/go-cmp/cmp"

	"patchbay/internal/fault"
	"patchbay/internal/respond"
)

// answer runs a handler behind an adapter, and returns the response and the log.
func answer(t *testing.T, browser bool, r *http.Request, h respond.HandlerFunc) (*httptest.ResponseRecorder, string) {
	t.Helper()
	var log bytes.Buffer
	sessions := scs.New()
	p := respond.New(slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})), sessions)
	adapted := p.Program(h)
	if browser {
		adapted = p.Browser(h)
	}
	rec := httptest.NewRecorder()
	sessions.LoadAndSave(adapted).ServeHTTP(rec, r)
	return rec, log.String()
}

func failing(err error) respond.HandlerFunc {
	return func(http.ResponseWriter, *http.Request) error { return err }
}

func get(target string) *http.Request { return httptest.NewRequest(http.MethodGet, target, nil) }

func TestProblemDocumentSaysWhatTheFaultSays(t *testing.T) {
	t.Parallel()
	f := &fault.Error{
		Kind: fault.Upstream, Code: "http_status", Message: "The server answered 503.", RetryAfter: 30,
		Remote: &fault.Remote{Phase: "list", HTTPStatus: 503, Retryable: true},
		Err:    errors.New("a body with a secret"),
	}
	rec, _ := answer(t, false, get("/api/v1/x"), failing(f))
	var have map[string]any
	if err := json.Unmarshal(rec.Body.Bytes(), &have); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"type": "/problems/upstream", "title": "Upstream", "status": 502.0, "detail": "The server answered 503.", "code": "http_status",
		"upstream": map[string]any{"phase": "list", "http_status": 503.0, "rpc_code": nil, "retryable": true},
	}
	if diff := cmp.Diff(want, have); diff != "" {
		t.Error(diff)
	}
	if rec.Code != 502 || rec.Header().Get("Content-Type") != "application/problem+json" || rec.Header().Get("Retry-After") != "30" {
		t.Errorf("%d %v", rec.Code, rec.Header())
	}
}

func TestProblemNamesFieldsTypeAndConnectURL(t *testing.T) {
	t.Parallel()
	f := fault.Errorf(fault.Conflict, "A credential is missing.").WithType("credential-required")
	f.ConnectURL = "https://patchbay.example.com/connect/x?a=1&b=2"
	f.Fields = []fault.Field{{Location: "auth.token", Message: "Enter the token."}}
	rec, _ := answer(t, false, get("/"), failing(f))
	for _, want := range []string{
		`"type":"/problems/credential-required"`, `"title":"Credential required"`, `"connect_url":"https://patchbay.example.com/connect/x?a=1&b=2"`,
		`"errors":[{"location":"auth.token","message":"Enter the token."}]`,
	} {
		if !strings.Contains(rec.Body.String(), want) {
			t.Errorf("no %s in %s", want, rec.Body)
		}
	}
}

func TestEveryKindHasItsStatus(t *testing.T) {
	t.Parallel()
	have := map[fault.Kind]int{}
	for k := fault.Internal; !strings.HasPrefix(k.String(), "kind("); k++ {
		have[k] = respond.Status(k)
	}
	want := map[fault.Kind]int{
		fault.Internal: 500, fault.Malformed: 400, fault.Unauthenticated: 401, fault.Denied: 403, fault.NotFound: 404,
		fault.BadMethod: 405, fault.Conflict: 409, fault.TooLarge: 413, fault.Invalid: 422, fault.RateLimited: 429,
		fault.Upstream: 502, fault.Unavailable: 503,
	}
	if diff := cmp.Diff(want, have); diff != "" {
		t.Error(diff)
	}
}

func TestCauseIsLoggedOnceAndNeverShown(t *testing.T) {
	t.Parallel()
	for _, browser := range []bool{false, true} {
		rec, log := answer(t, browser, get("/"), failing(errors.New("connection refused by 10.0.0.7")))
		if rec.Code != 500 || strings.Contains(rec.Body.String(), "10.0.0.7") || !strings.Contains(rec.Body.String(), "Something went wrong on our side.") {
			t.Errorf("browser %v: %d %s", browser, rec.Code, rec.Body)
		}
		if strings.Count(log, "10.0.0.7") != 1 {
			t.Errorf("browser %v: logged %s", browser, log)
		}
	}
}

func TestWhatPeopleDoWrongIsNotLogged(t *testing.T) {
	t.Parallel()
	_, log := answer(t, false, get("/"), failing(fault.Wrap(fault.Invalid, errors.New("the typed secret"), "This is wrong.")))
	if log != "" {
		t.Errorf("logged %s", log)
	}
}

func TestAbandonedRequestIsNoError(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, log := answer(t, false, get("/").WithContext(ctx), failing(ctx.Err()))
	if strings.Contains(log, `"level":"ERROR"`) {
		t.Errorf("logged %s", log)
	}
}

func TestProgramsAreToldHowToProveThemselves(t *testing.T) {
	t.Parallel()
	refused := failing(fault.Errorf(fault.Unauthenticated, "Send an API key."))
	rec, _ := answer(t, false, get("/"), refused)
	if have := rec.Header().Get("WWW-Authenticate"); have != `Bearer realm="patchbay"` {
		t.Errorf("without a key: %s", have)
	}
	r := get("/")
	r.Header.Set("Authorization", "Bearer x")
	rec, _ = answer(t, false, r, refused)
	if have := rec.Header().Get("WWW-Authenticate"); have != `Bearer realm="patchbay", error="invalid_token"` {
		t.Errorf("with a bad key: %s", have)
	}
}

func TestBrowsersAreSentToSignIn(t *testing.T) {
	t.Parallel()
	refused := failing(fault.Errorf(fault.Unauthenticated, "Sign in."))
	for target, want := range map[string]string{
		"/connectors?q=a%26b": "/login?return_to=%2Fconnectors%3Fq%3Da%2526b",
		"/":                   "/login",
		"/events":             "/login",
	} {
		rec, _ := answer(t, true, get(target), refused)
		if rec.Code != 303 || rec.Header().Get("Location") != want {
			t.Errorf("%s: %d to %s", target, rec.Code, rec.Header().Get("Location"))
		}
	}
	rec, _ := answer(t, true, httptest.NewRequest(http.MethodPost, "/connectors", nil), refused)
	if rec.Header().Get("Location") != "/login" {
		t.Errorf("a form: to %s", rec.Header().Get("Location"))
	}
	r := get("/connectors")
	r.Header.Set("HX-Request", "true")
	rec, _ = answer(t, true, r, refused)
	if rec.Code != 401 || rec.Header().Get("HX-Redirect") != "/login" {
		t.Errorf("a script: %d %v", rec.Code, rec.Header())
	}
}

func TestTooLargeABodyIsToldSo(t *testing.T) {
	t.Parallel()
	r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader("abc"))
	rec, _ := answer(t, false, r, func(w http.ResponseWriter, r *http.Request) error {
		_, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 2))
		return err
	})
	if rec.Code != http.StatusRequestEntityTooLarge {
		t.Errorf("%d %s", rec.Code, rec.Body)
	}
}

func TestPageThatFailsHalfWayIsNotHalfSent(t *testing.T) {
	t.Parallel()
	rec, _ := answer(t, true, get("/"), func(w http.ResponseWriter, r *http.Request) error {
		return respond.New(slog.New(slog.DiscardHandler), scs.New()).Page(w, r, http.StatusOK,
			templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
				_, _ = io.WriteString(w, "half a page")
				return errors.New("no more")
			}))
	})
	if rec.Code != 500 || strings.Contains(rec.Body.String(), "half a page") {
		t.Errorf("%d %s", rec.Code, rec.Body)
	}
}

func TestFlashIsShownOnce(t *testing.T) {
	t.Parallel()
	sessions := scs.New()
	p := respond.New(slog.New(slog.DiscardHandler), sessions)
	var cookie *http.Cookie
	do := func(h respond.HandlerFunc) *httptest.ResponseRecorder {
		r := get("/")
		if cookie != nil {
			r.AddCookie(cookie)
		}
		rec := httptest.NewRecorder()
		sessions.LoadAndSave(p.Browser(h)).ServeHTTP(rec, r)
		for _, c := range rec.Result().Cookies() {
			cookie = c
		}
		return rec
	}
	flash := respond.Flash{Kind: respond.Alert, Text: "Sync failed: no."}
	rec := do(func(w http.ResponseWriter, r *http.Request) error { return p.Back(w, r, "/connectors", flash) })
	if rec.Code != 303 || rec.Header().Get("Location") != "/connectors" {
		t.Errorf("%d to %s", rec.Code, rec.Header().Get("Location"))
	}
	for _, want := range []bool{true, false} {
		do(func(_ http.ResponseWriter, r *http.Request) error {
			have, ok := p.TakeFlash(r.Context())
			if ok != want || ok && have != flash {
				t.Errorf("flash %v %v, want %v", have, ok, want)
			}
			return nil
		})
	}
}

func TestOwnPath(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		"/connectors":              "/connectors",
		"/connectors?q=a%20b&s=ok": "/connectors?q=a%20b&s=ok",
		"/tools#x":                 "/tools",
		"/a%2Fb":                   "/a%2Fb",
		"":                         "/fallback",
		"connectors":               "/fallback",
		"//evil.example":           "/fallback",
		"///evil.example":          "/fallback",
		`/\evil.example`:           "/fallback",
		"/\t/evil.example":         "/fallback",
		"/a\nb":                    "/fallback",
		"/a b":                     "/fallback",
		"/%zz":                     "/fallback",
		"https://evil.example/":    "/fallback",
		"javascript:alert(1)":      "/fallback",
		"/%2Fevil.example":         "/fallback",
		"/ünicode":                 "/fallback",
	} {
		if have := respond.OwnPath(raw, "/fallback"); have != want {
			t.Errorf("%q: %q, want %q", raw, have, want)
		}
	}
}

func TestCameFrom(t *testing.T) {
	t.Parallel()
	for referer, want := range map[string]string{
		"http://patchbay.example.com/connectors?q=a": "/connectors?q=a",
		"http://evil.example/connectors":             "/fallback",
		"http://patchbay.example.com//evil.example":  "/fallback",
		"": "/fallback",
	} {
		r := get("http://patchbay.example.com/x")
		r.Header.Set("Referer", referer)
		if have := respond.CameFrom(r, "/fallback"); have != want {
			t.Errorf("%q: %q, want %q", referer, have, want)
		}
	}
}
