package mcp_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/mcp"
	"patchbay/internal/mcp/mcptest"
)

// recordTrace returns a sync's trace, one line for an exchange.
func recordTrace(t *testing.T, target mcp.Target) []string {
	t.Helper()
	trace := &mcp.Trace{}
	target.Trace = trace
	_, _, _ = newClient(t).sync(t, target)
	list, left := trace.Exchanges()
	var lines []string
	for i, e := range list {
		line := fmt.Sprintf("%s %s %s %d", e.Phase, strings.TrimSpace(e.Method+" "+e.Call), e.Era, e.Status)
		if e.Page > 0 {
			line += fmt.Sprintf(" page %d", e.Page)
		}
		if e.Reason != "" {
			line += " " + string(e.Reason)
		}
		lines = append(lines, line)
		if i > 0 && e.At < list[i-1].At || e.Took <= 0 || e.Took > time.Minute || e.Method == http.MethodPost && e.Sent == 0 ||
			e.Call == "tools/list" && e.Status == http.StatusOK && e.Received == 0 {
			t.Errorf("%s: at %s, %s, %d bytes there and %d back", line, e.At, e.Took, e.Sent, e.Received)
		}
	}
	if left != 0 {
		lines = append(lines, fmt.Sprintf("%d more", left))
	}
	return lines
}

func TestTrace_RecordsEachRequest(t *testing.T) {
	t.Parallel()
	tools := []string{`{"name":"a"}`, `{"name":"b"}`, `{"name":"c"}`}
	for name, c := range map[string]struct {
		script mcptest.Script
		era    mcp.Era
		want   []string
	}{
		"a handshake with a session and pages": {
			mcptest.Script{Tools: tools, PageSize: 2, SessionID: "s"}, mcp.EraHandshake,
			[]string{
				"initialize POST initialize handshake 200", "initialized POST notifications/initialized handshake 202",
				"list POST tools/list handshake 200 page 1", "list POST tools/list handshake 200 page 2", "close DELETE handshake 204",
			},
		},
		"the modern era": {
			mcptest.Script{Tools: tools, Modern: true, Stream: true}, mcp.EraModern,
			[]string{"discover POST server/discover modern 200", "list POST tools/list modern 200 page 1"},
		},
		"an error in an answer": {
			mcptest.Script{Tools: tools, On: map[string]mcptest.Handler{"tools/list": mcptest.Answer("application/json", func(c mcptest.Call) string { return mcptest.Failure(c, -32603, "words of the server") })}}, mcp.EraHandshake,
			[]string{
				"initialize POST initialize handshake 200", "initialized POST notifications/initialized handshake 202",
				"list POST tools/list handshake 200 page 1 rpc",
			},
		},
		"a server that refuses everybody": {
			mcptest.Script{Bearer: "t"}, mcp.EraModern,
			[]string{"discover POST server/discover modern 401 unauthorized", "initialize POST initialize handshake 401 unauthorized"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			up := mcptest.Start(t, c.script)
			if diff := cmp.Diff(c.want, recordTrace(t, mcp.Target{URL: up.URL, Era: c.era})); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestTrace_KeepsFirstAndLastExchanges(t *testing.T) {
	t.Parallel()
	var tools []string
	for i := range 100 {
		tools = append(tools, fmt.Sprintf(`{"name":"tool-%d"}`, i))
	}
	lines := recordTrace(t, mcp.Target{URL: mcptest.Start(t, mcptest.Script{Tools: tools, PageSize: 1, SessionID: "s"}).URL})
	if len(lines) != 65 || lines[0] != "initialize POST initialize handshake 200" || lines[47] != "list POST tools/list handshake 200 page 46" ||
		lines[48] != "list POST tools/list handshake 200 page 86" || lines[63] != "close DELETE handshake 204" || lines[64] != "39 more" {
		t.Errorf("%d lines: %q", len(lines), lines)
	}
}
