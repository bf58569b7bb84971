package apiserver_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"patchbay/internal/apiserver"
	"patchbay/internal/connectors"
	"patchbay/internal/mcp"
	"patchbay/internal/openapi"
	"patchbay/internal/toolchange"
)

const document = `{"openapi":"3.1.0","info":{"title":"Notes","version":"2"},"servers":[{"url":"BASE/v2"}],"paths":{
	"/notes/{id}":{"get":{"operationId":"getNote","parameters":[{"name":"id","in":"path","required":true,"schema":{"type":"string"}}],
		"responses":{"200":{"description":"","content":{"application/json":{"schema":{"type":"object"}}}}}}},
	"/notes":{"post":{"operationId":"addNote","requestBody":{"content":{"application/json":{"schema":{"type":"object","properties":{"text":{"type":"string"}}}}}},
		"responses":{"201":{"description":""}}}}}}`

// openSession opens a session with an API, and lists its tools with their bindings.
func openSession(t *testing.T, api http.HandlerFunc, opts ...func(*apiserver.Server)) (*mcp.Session, map[string]json.RawMessage) {
	t.Helper()
	remote := httptest.NewServer(api)
	t.Cleanup(remote.Close)
	tools := func(context.Context) (all []openapi.Tool, err error) {
		d, err := openapi.Read([]byte(strings.ReplaceAll(document, "BASE", remote.URL)), openapi.Options{})
		if err != nil {
			return nil, err
		}
		for _, o := range d.Operations {
			tool, err := d.Tool(o)
			if err != nil {
				return nil, err
			}
			all = append(all, *tool)
		}
		return all, nil
	}
	s := apiserver.Server{
		Title: "Notes", Version: "2", Tools: tools, MaxBody: 1 << 20,
		Credential: apiserver.Credential{Origin: connectors.Origin(remote.URL), Header: http.Header{"Authorization": {"Bearer secret"}}},
		Client:     &http.Client{Transport: remote.Client().Transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
	}
	for _, opt := range opts {
		opt(&s)
	}
	dialer := &mcp.Dialer{HTTP: remote.Client(), Version: "test"}
	session, err := dialer.Dial(t.Context(), mcp.Target{
		URL: apiserver.URL, HTTP: &http.Client{Transport: apiserver.New(s)}, Era: mcp.EraModern, Timeout: 30 * time.Second, Backoff: time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close(context.Background()) })
	list, err := session.Tools(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	bindings := map[string]json.RawMessage{}
	for _, tool := range list.Tools {
		var definition map[string]json.RawMessage
		if err := json.Unmarshal(tool.Raw, &definition); err != nil {
			t.Fatal(err)
		}
		bindings[tool.Name] = apiserver.CallMeta(definition[toolchange.BindingMember])
	}
	return session, bindings
}

func TestCall_ReachesTheAPI(t *testing.T) {
	t.Parallel()
	session, bindings := openSession(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.Method == http.MethodPost {
			body, _ := io.ReadAll(r.Body)
			_, _ = w.Write(body)
			return
		}
		_, _ = io.WriteString(w, `{"path":"`+r.URL.Path+`","key":"`+r.Header.Get("Authorization")+`","session":"`+r.Header.Get("Mcp-Session-Id")+r.Header.Get("Mcp-Protocol-Version")+`"}`)
	})
	if session.Server().Name != "Notes" || session.Era() != mcp.EraModern {
		t.Errorf("the server is %+v of era %s", session.Server(), session.Era())
	}
	got, err := session.Call(t.Context(), mcp.Call{Name: "getNote", Arguments: json.RawMessage(`{"id":"a/b"}`), Meta: bindings["getNote"]})
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"path":"/v2/notes/a/b","key":"Bearer secret","session":""}`; string(got.Structured) != want {
		t.Errorf("the answer is %s, want %s", got.Structured, want)
	}
	got, err = session.Call(t.Context(), mcp.Call{Name: "addNote", Arguments: json.RawMessage(`{"text":"hello"}`), Meta: bindings["addNote"]})
	if err != nil || !strings.Contains(string(got.Content), "hello") {
		t.Errorf("the answer is %s (%v)", got.Content, err)
	}
	if _, err = session.Call(t.Context(), mcp.Call{Name: "getNote", Arguments: json.RawMessage(`{}`), Meta: bindings["getNote"]}); err == nil || !strings.Contains(remoteText(err), `"id" is missing`) {
		t.Errorf("without the argument: %v, %q", err, remoteText(err))
	}
}

// remoteText is what the server said.
func remoteText(err error) string {
	if failure, ok := errors.AsType[*mcp.Error](err); ok {
		text, _, _ := failure.RemoteText().Reveal()
		return text
	}
	return ""
}

func TestCall_RefusalsAreTheServers(t *testing.T) {
	t.Parallel()
	status := http.StatusUnauthorized
	session, bindings := openSession(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("WWW-Authenticate", `Bearer error="invalid_token"`)
		w.Header().Set("Retry-After", "7")
		http.Error(w, "no such luck", status)
	})
	call := func() (*mcp.Result, *mcp.Error) {
		got, err := session.Call(t.Context(), mcp.Call{Name: "getNote", Arguments: json.RawMessage(`{"id":"1"}`), Meta: bindings["getNote"]})
		failure, _ := errors.AsType[*mcp.Error](err)
		return got, failure
	}
	if _, err := call(); err == nil || err.Reason != mcp.ReasonUnauthorized || len(err.Challenges) != 1 {
		t.Errorf("401 is %+v", err)
	}
	status = http.StatusTooManyRequests
	if _, err := call(); err == nil || err.HTTPStatus != status || err.RetryAfter != 7*time.Second {
		t.Errorf("429 is %+v", err)
	}
	status = http.StatusConflict
	if got, err := call(); err != nil || !got.IsError || !strings.Contains(string(got.Content), "no such luck") {
		t.Errorf("409 is %+v, %v", got, err)
	}
	status = http.StatusFound
	if got, err := call(); err != nil || !got.IsError {
		t.Errorf("302 is %+v, %v", got, err)
	}
}

func TestCall_BoundsTheAnswer(t *testing.T) {
	t.Parallel()
	session, bindings := openSession(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, strings.Repeat("x", 2000))
	}, func(s *apiserver.Server) { s.MaxBody = 1000 })
	got, err := session.Call(t.Context(), mcp.Call{Name: "getNote", Arguments: json.RawMessage(`{"id":"1"}`), Meta: bindings["getNote"]})
	if err != nil || !got.IsError || !strings.Contains(string(got.Content), "too large") {
		t.Errorf("the answer is %+v, %v", got, err)
	}
}
