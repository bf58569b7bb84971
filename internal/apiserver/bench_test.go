package apiserver_test

import (
	"context"
	"encoding/json"
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
	"patchbay/internal/safehttp"
)

// benchmarkTexts are the sizes of the answer.
var benchmarkTexts = map[string]string{"1KB": strings.Repeat("A word of text. ", 64), "10KB": strings.Repeat("A word of text. ", 640)}

// BenchmarkCall compares a call of an HTTP API with the same call of an MCP server, with their connections.
func BenchmarkCall(b *testing.B) {
	for size, text := range benchmarkTexts {
		b.Run("MCP/"+size, func(b *testing.B) {
			remote := startRemote(b, "application/json", `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"{\"text\":\"`+text+`\"}"}],"structuredContent":{"text":"`+text+`"},"resultType":"complete"}}`)
			target := mcp.Target{URL: remote + "/mcp", HTTP: localClient(), Era: mcp.EraModern, Header: http.Header{"Authorization": {"Bearer secret"}}, Transport: mcp.JSONOverHTTP}
			benchmarkCalls(b, target, nil)
		})
		b.Run("API/"+size, func(b *testing.B) {
			remote := startRemote(b, "application/json", `{"text":"`+text+`"}`)
			binding := openapi.Binding{Version: 1, Method: "POST", Server: remote + "/v2", Path: "/notes", Accept: "application/json", Result: openapi.ResultObject,
				Body: &openapi.Body{Media: "application/json", Required: true, Fields: []openapi.Field{{Argument: "n", Name: "n"}, {Argument: "size", Name: "size"}}}}
			server := apiserver.New(apiserver.Server{Title: "Notes", Client: localClient(), MaxBody: 1 << 20,
				Credential: apiserver.Credential{Origin: connectors.Origin(remote), Header: http.Header{"Authorization": {"Bearer secret"}}}})
			target := mcp.Target{URL: apiserver.URL, HTTP: &http.Client{Transport: server}, Era: mcp.EraModern, Transport: mcp.JSONOverHTTP}
			benchmarkCalls(b, target, apiserver.CallMeta(binding.JSON()))
		})
	}
}

func localClient() *http.Client {
	return safehttp.New(safehttp.Options{Mode: safehttp.Local}).Client()
}

// startRemote starts a server with one answer. It discovers as an MCP server does.
func startRemote(b *testing.B, media, answer string) string {
	b.Helper()
	remote := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", media)
		var message struct {
			ID     json.RawMessage
			Method string
		}
		if strings.HasSuffix(r.URL.Path, "/mcp") && json.Unmarshal(body, &message) == nil {
			if message.Method == "tools/call" {
				_, _ = io.WriteString(w, strings.Replace(answer, `"id":1`, `"id":`+string(message.ID), 1))
				return
			}
			_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":`+string(message.ID)+`,"result":{"supportedVersions":["2026-07-28"],"protocolVersion":"2026-07-28","capabilities":{"tools":{}},"serverInfo":{"name":"n","version":"1"},"resultType":"complete"}}`)
			return
		}
		_, _ = io.WriteString(w, answer)
	}))
	b.Cleanup(remote.Close)
	return remote.URL
}

func benchmarkCalls(b *testing.B, target mcp.Target, meta json.RawMessage) {
	b.Helper()
	target.Timeout, target.Backoff = 5*time.Second, time.Millisecond
	session, err := (&mcp.Dialer{HTTP: localClient(), Version: "test"}).Dial(b.Context(), target)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { session.Close(context.Background()) })
	call := mcp.Call{Name: "addNote", Arguments: json.RawMessage(`{"n":17,"size":1024}`), Meta: meta}
	b.ReportAllocs()
	for b.Loop() {
		if got, err := session.Call(b.Context(), call); err != nil || len(got.Structured) < 100 {
			b.Fatal(err, string(got.Content))
		}
	}
}
