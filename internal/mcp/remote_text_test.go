package mcp_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"patchbay/internal/mcp"
	"patchbay/internal/mcp/mcptest"
)

func TestError_KeepsRemoteText(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("long ", 2000)
	failure := func(extra string) mcptest.Handler {
		return mcptest.Answer("application/json", func(c mcptest.Call) string {
			return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32603,"message":"db \"down\""%s}}`, c.ID, extra)
		})
	}
	for name, tc := range map[string]struct {
		handler mcptest.Handler
		want    string
		isCut   bool
	}{
		"status":            {mcptest.Status(503, "out of disk\n"), "out of disk\n", false},
		"status, long":      {mcptest.Status(503, long), long[:4096], true},
		"JSON-RPC error":    {failure(""), `db "down"`, false},
		"with data":         {failure(`,"data":{"table":"users"}`), "db \"down\"\n{\"table\":\"users\"}", false},
		"with status":       {mcptest.Status(400, `{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"Mcp-Session-Id header is required"}}`), "Mcp-Session-Id header is required", false},
		"challenge":         {mcptest.Status(401, " ", "WWW-Authenticate", `Bearer realm="x", error="invalid_token", error_description="It was revoked"`), "invalid_token\nIt was revoked\n", false},
		"challenge, two":    {mcptest.Status(403, "", "WWW-Authenticate", `Basic realm="x"`, "WWW-Authenticate", `Bearer error_description="No seat"`), "No seat\n", false},
		"challenge, body":   {mcptest.Status(403, "go away", "WWW-Authenticate", `Bearer error="invalid_token"`), "go away", false},
		"HTML":              {mcptest.Answer("text/html", func(mcptest.Call) string { return "<h1>It works!</h1>" }), "<h1>It works!</h1>", false},
		"HTML, long":        {mcptest.Answer("text/html", func(mcptest.Call) string { return "<h1>" + long }), ("<h1>" + long)[:4096], true},
		"text":              {mcptest.Answer("text/plain", func(mcptest.Call) string { return "hello" }), "hello", false},
		"broken JSON":       {mcptest.Answer("application/json", func(mcptest.Call) string { return `{"jsonrpc":` }), `{"jsonrpc":`, false},
		"broken event":      {mcptest.Answer("text/event-stream", func(mcptest.Call) string { return mcptest.Event("{oops") }), "{oops", false},
		"error in an event": {mcptest.Answer("text/event-stream", func(c mcptest.Call) string { return mcptest.Event(mcptest.Failure(c, -32603, "boom inside")) }), "boom inside", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			up := mcptest.Start(t, mcptest.Script{On: map[string]mcptest.Handler{"tools/list": tc.handler}})
			_, _, err := newClient(t).sync(t, mcp.Target{URL: up.URL, Retries: 0})
			e, ok := errors.AsType[*mcp.Error](err)
			if !ok {
				t.Fatal(err)
			}
			text, cutStart, cutEnd := e.RemoteText().Reveal()
			if text != tc.want || cutStart || cutEnd != tc.isCut {
				t.Errorf("%q, cut %v %v", text[:min(len(text), 200)], cutStart, cutEnd)
			}
			printed := fmt.Sprintf("%v %+v %#v %s", err, err, e.RemoteText(), err.Error())
			encoded, err := json.Marshal(e.RemoteText())
			if strings.Contains(printed, tc.want) || string(encoded) != `"[remote text]"` {
				t.Errorf("%s, %s, %v", printed, encoded, err)
			}
		})
	}
}

func TestStdio_ExitReportsStatusAndStderr(t *testing.T) {
	t.Parallel()
	_, _, err := newClient(t).sync(t, newProgramTarget(t, "explains"))
	e, ok := errors.AsType[*mcp.Error](err)
	if !ok || e.ExitCode == nil || *e.ExitCode != 3 {
		t.Fatalf("%v", err)
	}
	text, cutStart, cutEnd := e.RemoteText().Reveal()
	if len(text) != 8<<10 || !cutStart || cutEnd || !strings.HasSuffix(text, "\nno such database\n") || strings.Contains(err.Error(), "database") {
		t.Errorf("%q, cut %v %v", text[max(0, len(text)-80):], cutStart, cutEnd)
	}
}
