package mcp_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/mcp"
	"patchbay/internal/mcp/mcptest"
)

func ok(c mcptest.Call) string { return mcptest.Result(c, `{"tools":[{"name":"a"}]}`) }

func TestResponse_UnusualFramesAreRead(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]mcptest.Handler{
		"byte order mark before JSON":     mcptest.Answer("application/json", func(c mcptest.Call) string { return "\xef\xbb\xbf" + ok(c) }),
		"byte order mark before a stream": mcptest.Answer("text/event-stream", func(c mcptest.Call) string { return "\xef\xbb\xbfdata: " + ok(c) + "\n\n" }),
		"carriage returns":                mcptest.Answer("text/event-stream", func(c mcptest.Call) string { return "event: x\rdata: " + ok(c) + "\r\r" }),
		"both line ends":                  mcptest.Answer("text/event-stream", func(c mcptest.Call) string { return "event: x\r\ndata: " + ok(c) + "\r\n\r\n" }),
		"a byte order mark in parts": func(w http.ResponseWriter, _ *http.Request, c mcptest.Call) {
			for _, part := range []string{" ", "\xef", "\xbb", "\xbf", "\n", ok(c)} {
				_, _ = io.WriteString(w, part)
				_ = http.NewResponseController(w).Flush()
			}
		},
		"no content type":          mcptest.Answer("", ok),
		"what follows the reply":   mcptest.Answer("application/json", func(c mcptest.Call) string { return ok(c) + "\n<!-- took 3 ms -->" }),
		"gzip":                     writeCompressed,
		"status 201":               func(w http.ResponseWriter, r *http.Request, c mcptest.Call) { mcptest.Status(201, ok(c))(w, r, c) },
		"a stream that stays open": writeAndStayOpen,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, list, err := syncScript(t, mcptest.Script{On: map[string]mcptest.Handler{"tools/list": answer}})
			if err != nil || names(list) != "a" {
				t.Errorf("tools %q, error %v", names(list), err)
			}
		})
	}
}

func writeCompressed(w http.ResponseWriter, _ *http.Request, c mcptest.Call) {
	w.Header().Set("Content-Encoding", "gzip")
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = io.WriteString(z, ok(c))
	_ = z.Close()
	_, _ = w.Write(b.Bytes())
}

// writeAndStayOpen responds and keeps the stream open until the client disconnects.
func writeAndStayOpen(w http.ResponseWriter, r *http.Request, c mcptest.Call) {
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = io.WriteString(w, "data: "+ok(c)+"\n\n")
	_ = http.NewResponseController(w).Flush()
	<-r.Context().Done()
}

func TestStatus_MapsToReason(t *testing.T) {
	t.Parallel()
	rpc := func(c mcptest.Call) string { return mcptest.Failure(c, -32000, "secret") }
	withRPC := func(status int) mcptest.Handler {
		return func(w http.ResponseWriter, r *http.Request, c mcptest.Call) {
			mcptest.Status(status, rpc(c))(w, r, c)
		}
	}
	for name, c := range map[string]struct {
		answer mcptest.Handler
		want   errorFacts
	}{
		"202 without a body":     {mcptest.Status(202, ""), errorFacts{Reason: mcp.ReasonProtocol, HTTP: 202, Detail: "sent an empty response"}},
		"204":                    {mcptest.Status(204, ""), errorFacts{Reason: mcp.ReasonProtocol, HTTP: 204, Detail: "sent an empty response"}},
		"400":                    {mcptest.Status(400, "session expired"), errorFacts{Reason: mcp.ReasonHTTPStatus, HTTP: 400}},
		"400 with JSON-RPC":      {withRPC(400), errorFacts{Reason: mcp.ReasonRPC, HTTP: 400, RPC: -32000}},
		"401":                    {mcptest.Status(401, ""), errorFacts{Reason: mcp.ReasonUnauthorized, HTTP: 401}},
		"403":                    {mcptest.Status(403, ""), errorFacts{Reason: mcp.ReasonUnauthorized, HTTP: 403}},
		"404 without a session":  {mcptest.Status(404, "not found"), errorFacts{Reason: mcp.ReasonHTTPStatus, HTTP: 404}},
		"405":                    {mcptest.Status(405, ""), errorFacts{Reason: mcp.ReasonHTTPStatus, HTTP: 405}},
		"406":                    {mcptest.Status(406, "<html>"), errorFacts{Reason: mcp.ReasonHTTPStatus, HTTP: 406}},
		"429":                    {mcptest.Status(429, ""), errorFacts{Reason: mcp.ReasonHTTPStatus, HTTP: 429, Retryable: true}},
		"500":                    {mcptest.Status(500, "secret"), errorFacts{Reason: mcp.ReasonHTTPStatus, HTTP: 500, Retryable: true}},
		"500 with JSON-RPC":      {withRPC(500), errorFacts{Reason: mcp.ReasonHTTPStatus, HTTP: 500, RPC: -32000, Retryable: true}},
		"503":                    {mcptest.Status(503, ""), errorFacts{Reason: mcp.ReasonHTTPStatus, HTTP: 503, Retryable: true}},
		"300 without a location": {mcptest.Status(300, ""), errorFacts{Reason: mcp.ReasonHTTPStatus, HTTP: 300}},
		"broken gzip": {mcptest.Status(200, "not gzip at all", "Content-Encoding", "gzip"),
			errorFacts{Reason: mcp.ReasonProtocol, HTTP: 200, Detail: "sent corrupt compressed data"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, _, err := syncScript(t, mcptest.Script{On: map[string]mcptest.Handler{"tools/list": c.answer}})
			c.want.Phase = mcp.PhaseList
			if diff := cmp.Diff(c.want, newErrorFacts(t, err)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if strings.Contains(err.Error(), "secret") {
				t.Errorf("remote text in %v", err)
			}
		})
	}
}

func TestInitialized_AnyResponseIsAccepted(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]mcptest.Handler{
		"200": mcptest.Status(200, ""), "204": mcptest.Status(204, ""), "400": mcptest.Status(400, "what?"),
		"404": mcptest.Status(404, ""), "500": mcptest.Status(500, ""), "HTML": mcptest.Status(200, "<html>"),
		"a stream that stays open": writeAndStayOpen,
		"a redirect":               mcptest.Status(302, "", "Location", "https://login.example.com/"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, list, err := syncScript(t, mcptest.Script{
				SessionID: "s", Tools: []string{mcptest.Tool("a")},
				On: map[string]mcptest.Handler{"notifications/initialized": answer},
			})
			if err != nil || names(list) != "a" {
				t.Errorf("tools %q, error %v", names(list), err)
			}
		})
	}
}

func TestChallenges_AreReadLeniently(t *testing.T) {
	t.Parallel()
	for header, want := range map[string][]mcp.Challenge{
		"":       nil,
		"Bearer": {{Scheme: "bearer", Params: map[string]string{}}},
		`Bearer realm="a, b", resource_metadata="https://x/.well-known/y" , scope=""`: {{Scheme: "bearer", Params: map[string]string{
			"realm": "a, b", "resource_metadata": "https://x/.well-known/y", "scope": ""}}},
		`Bearer error=invalid_token, scope=files:read/all`: {{Scheme: "bearer", Params: map[string]string{
			"error": "invalid_token", "scope": "files:read/all"}}},
		`Bearer realm="x" error = "y"`:      {{Scheme: "bearer", Params: map[string]string{"realm": "x", "error": "y"}}},
		`Bearer realm=, error="y"`:          {{Scheme: "bearer", Params: map[string]string{"realm": "", "error": "y"}}},
		`Bearer Realm="say \"hi\""`:         {{Scheme: "bearer", Params: map[string]string{"realm": `say "hi"`}}},
		`Bearer realm="never closed`:        {{Scheme: "bearer", Params: map[string]string{"realm": "never closed"}}},
		`,, Bearer ,, realm=x,,`:            {{Scheme: "bearer", Params: map[string]string{"realm": "x"}}},
		`Negotiate dGVzdA, Basic realm="x"`: {{Scheme: "negotiate", Params: map[string]string{}}, {Scheme: "basic", Params: map[string]string{"realm": "x"}}},
		`Basic realm="x", Bearer, DPoP algs="ES256"`: {{Scheme: "basic", Params: map[string]string{"realm": "x"}},
			{Scheme: "bearer", Params: map[string]string{}}, {Scheme: "dpop", Params: map[string]string{"algs": "ES256"}}},
		`realm="nobody's"`: nil,
	} {
		t.Run(header, func(t *testing.T) {
			t.Parallel()
			up := mcptest.Start(t, mcptest.Script{On: map[string]mcptest.Handler{
				"initialize": mcptest.Status(401, "", "WWW-Authenticate", header),
			}})
			_, _, err := newClient(t).sync(t, mcp.Target{URL: up.URL})
			newErrorFacts(t, err)
			if diff := cmp.Diff(want, asError(err).Challenges); diff != "" {
				t.Errorf("challenges (-want +got):\n%s", diff)
			}
		})
	}
}

func TestChallenges_SeveralHeaders(t *testing.T) {
	t.Parallel()
	up := mcptest.Start(t, mcptest.Script{On: map[string]mcptest.Handler{
		"initialize": mcptest.Status(403, "", "WWW-Authenticate", "Basic", "WWW-Authenticate", `Bearer error="insufficient_scope"`),
	}})
	_, _, err := newClient(t).sync(t, mcp.Target{URL: up.URL})
	want := []mcp.Challenge{
		{Scheme: "basic", Params: map[string]string{}},
		{Scheme: "bearer", Params: map[string]string{"error": "insufficient_scope"}},
	}
	if diff := cmp.Diff(want, asError(err).Challenges); diff != "" {
		t.Errorf("challenges (-want +got):\n%s", diff)
	}
}
