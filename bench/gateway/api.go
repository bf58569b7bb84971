package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
)

// apiDocument describes two operations that do what the tool "work" does. One answers text, the other JSON.
const apiDocument = `{"openapi":"3.1.0","info":{"title":"bench","version":"1"},"servers":[{"url":"/api"}],"paths":{` +
	`"/text":{"post":{"operationId":"text","requestBody":` + apiBody + `,"responses":{"200":{"description":"","content":{"text/plain":{}}}}}},` +
	`"/json":{"post":{"operationId":"json","requestBody":` + apiBody + `,"responses":{"200":{"description":"","content":{"application/json":{"schema":` + jsonAnswer + `}}}}}}}}`

// jsonAnswer is the schema of an answer in JSON, of the API and of the tool "work_json".
const jsonAnswer = `{"type":"object","properties":{"text":{"type":"string"}}}`

const apiBody = `{"required":true,"content":{"application/json":{"schema":{"type":"object","additionalProperties":false,"required":["n"],"properties":{"n":{"type":"integer"},` +
	`"size":{"type":"integer","minimum":0,"maximum":10000000},"sse":{"type":"boolean"}}}}}}`

var apiKinds = []callKind{
	{name: "a call of an API, 1 KB of text", size: 1 << 10, operation: "text"}, {name: "a call of an API, 10 KB of text", size: 10 << 10, operation: "text"},
	{name: "a call of an API, 1 KB of JSON", size: 1 << 10, operation: "json"}, {name: "a call of an API, 10 KB of JSON", size: 10 << 10, operation: "json"},
}

func serveDocument(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write([]byte(apiDocument))
}

// serveAPI serves the operations of apiDocument.
func (u *echoServer) serveAPI(w http.ResponseWriter, r *http.Request) {
	var a callArguments
	if err := json.NewDecoder(r.Body).Decode(&a); err != nil {
		http.Error(w, "not JSON", http.StatusBadRequest)
		return
	}
	u.calls.Add(1)
	text := resultText(a.N, a.Size, u.prose)
	if r.URL.Path == "/api/text" {
		w.Header().Set("Content-Type", "text/plain")
		_, _ = w.Write(text)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(append(append([]byte(`{"text":"`), text...), `"}`...))
}

// addAPI creates a connector to the HTTP API and an agent that may call it without approval.
func (b *bench) addAPI(ctx context.Context) error {
	var token struct{ Token string }
	err := errors.Join(
		b.callAPI(ctx, "POST", "/connectors", map[string]any{
			"name": "api", "slug": "api", "kind": "http", "document_url": b.upstream.address + "/api/openapi.json", "operations": []string{"POST /text", "POST /json"},
			"auth": map[string]any{"type": "bearer", "token": "of-the-upstream"}, "sync_interval_s": 0,
		}, nil),
		b.callAPI(ctx, "POST", "/connectors/api/sync_tools", nil, nil),
		b.callAPI(ctx, "POST", "/agents", map[string]any{"name": "api", "slug": "api", "approval": "auto"}, nil),
		b.callAPI(ctx, "PUT", "/agents/api/connectors/api", map[string]any{"tools": "all"}, nil),
		b.callAPI(ctx, "POST", "/agents/api/tokens", map[string]any{}, &token),
	)
	b.apiToken = token.Token
	return err
}

func (b *bench) apiSide(operation string) target {
	return target{name: "an HTTP API", url: b.patchbay.address + "/mcp", token: b.apiToken, tool: "mcp_api__" + operation, server: b.patchbay}
}

// compareWithAPI measures calls to the HTTP API against the same ones to the MCP server, through Patchbay. It fails if they cost
// too much: the bound is for the median of all turns, which is steady on a machine that does other work.
func (b *bench) compareWithAPI(ctx context.Context) error {
	fmt.Fprintln(b.out, "\n| what | an MCP server: CPU (spread) | calls/s | an HTTP API: CPU (spread) | calls/s | CPU against MCP (spread) | throughput against it | PostgreSQL's CPU |")
	fmt.Fprintln(b.out, "|---|---|---|---|---|---|---|---|")
	var all []float64
	for _, t := range apiKinds {
		base := b.patchbaySide(20)
		if t.operation == "json" {
			base.tool += "_json"
		}
		ratios, err := b.compareSides(ctx, base, b.apiSide(t.operation), t)
		if err != nil {
			return err
		}
		all = append(all, ratios...)
	}
	fmt.Fprintf(b.out, "\nA call of an API costs %s times the CPU of one of an MCP server.\n", formatRatioSpread(all))
	if ratio := medianRatio(all); b.maxAPIRatio > 0 && ratio > b.maxAPIRatio {
		return fmt.Errorf("a call of an API costs %.2f times the CPU of one of an MCP server, at most %.2f is allowed", ratio, b.maxAPIRatio)
	}
	return nil
}
