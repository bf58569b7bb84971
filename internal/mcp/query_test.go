package mcp_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/mcp"
	"patchbay/internal/mcp/mcptest"
)

func TestQuery_FollowsEra(t *testing.T) {
	t.Parallel()
	up := mcptest.Start(t, mcptest.Script{Modern: true, On: map[string]mcptest.Handler{"resources/read": newResultHandler(`{"contents": [] }`)}})
	raw, err := dial(t, mcp.Target{URL: up.URL}).Request(t.Context(), "resources/read", json.RawMessage(`{
		"uri": "file:///ü", "_meta": {"x": 1, "io.modelcontextprotocol/protocolVersion": "1"}}`))
	if err != nil || string(raw) != `{"contents": [] }` {
		t.Fatalf("%s, error %v", raw, err)
	}
	call := up.Calls()[1]
	want := `{"uri":"file:///ü","_meta":{"x":1,"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
		`"io.modelcontextprotocol/clientInfo":{"name":"patchbay","version":"1.2.3"},"io.modelcontextprotocol/clientCapabilities":{}}}`
	if diff := cmp.Diff(want, string(call.Params)); diff != "" {
		t.Errorf("params (-want +got):\n%s", diff)
	}
	if got := call.Header.Get("Mcp-Name"); got != "=?base64?ZmlsZTovLy/DvA==?=" {
		t.Errorf("Mcp-Name %q", got)
	}
}

func TestQuery_RPCErrorIsReturnedUnchanged(t *testing.T) {
	t.Parallel()
	up := mcptest.Start(t, mcptest.Script{On: map[string]mcptest.Handler{
		"prompts/get": mcptest.Answer("application/json", func(c mcptest.Call) string {
			return `{"id":` + string(c.ID) + `,"error":{"code":-32602,"message":"secret","data":{"a":1}}}`
		}),
	}})
	_, err := dial(t, mcp.Target{URL: up.URL}).Request(t.Context(), "prompts/get", nil)
	want := &mcp.RPCError{Code: -32602, Message: "secret", Data: json.RawMessage(`{"a":1}`)}
	if diff := cmp.Diff(want, asError(err).RPC); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if strings.Contains(err.Error(), "secret") {
		t.Errorf("remote text in %v", err)
	}
}

func TestQuery_RefusesParamsThatAreNoObject(t *testing.T) {
	t.Parallel()
	up := mcptest.Start(t, mcptest.Script{})
	s := dial(t, mcp.Target{URL: up.URL})
	sent := len(up.Calls())
	for _, raw := range []string{`[]`, `1`, `{"_meta":1}`, `{"a":}`, `{} {}`} {
		if _, err := s.Request(t.Context(), "x", json.RawMessage(raw)); err == nil {
			t.Errorf("%s was sent", raw)
		}
	}
	if _, err := s.Call(t.Context(), mcp.Call{Name: "a", Arguments: json.RawMessage(`[]`)}); err == nil {
		t.Error("arguments [] were sent")
	}
	if len(up.Calls()) != sent {
		t.Errorf("%v", up.Methods())
	}
}

func TestPing_UsesMethodOfEra(t *testing.T) {
	t.Parallel()
	up := mcptest.Start(t, mcptest.Script{On: map[string]mcptest.Handler{"ping": newResultHandler(`{}`)}})
	if err := dial(t, mcp.Target{URL: up.URL}).Ping(t.Context()); err != nil {
		t.Error(err)
	}
	up = mcptest.Start(t, mcptest.Script{Modern: true})
	if err := dial(t, mcp.Target{URL: up.URL}).Ping(t.Context()); err != nil || countRequests(up, "server/discover") != 2 {
		t.Errorf("%v, error %v", up.Methods(), err)
	}
}

func TestNotify_SendsNotification(t *testing.T) {
	t.Parallel()
	up := mcptest.Start(t, mcptest.Script{})
	if err := dial(t, mcp.Target{URL: up.URL}).Notify(t.Context(), "notifications/roots/list_changed", nil); err != nil {
		t.Error(err)
	}
	if countRequests(up, "notifications/roots/list_changed") != 1 {
		t.Errorf("%v", up.Methods())
	}
}

func TestList_ReturnsItemsByteForByte(t *testing.T) {
	t.Parallel()
	first := `{"prompts":[ {"name":"a", "n":9007199254740993} ],"nextCursor":"x","ttlMs":5}`
	up := mcptest.Start(t, mcptest.Script{On: map[string]mcptest.Handler{
		"prompts/list":             mcptest.First(1, newResultHandler(first), newResultHandler(`{"prompts":[{"name":"b"}],"ttlMs":7,"cacheScope":"public"}`)),
		"resources/list":           newResultHandler(`{"resources":7}`),
		"resources/templates/list": newResultHandler(`{"resourceTemplates":[],"nextCursor":""}`),
	}})
	s := dial(t, mcp.Target{URL: up.URL})
	list, err := s.List(t.Context(), mcp.Prompts)
	want := []json.RawMessage{json.RawMessage(`{"name":"a", "n":9007199254740993}`), json.RawMessage(`{"name":"b"}`)}
	if diff := cmp.Diff(want, list.Items); err != nil || diff != "" || list.Pages != 2 || list.TTL.Milliseconds() != 5 {
		t.Errorf("%+v, error %v, (-want +got):\n%s", list, err, diff)
	}
	if _, err = s.List(t.Context(), mcp.Resources); newErrorFacts(t, err).Detail != "sent an invalid list" {
		t.Errorf("%v", err)
	}
	if list, err = s.List(t.Context(), mcp.ResourceTemplates); err != nil || len(list.Items) != 0 || list.Pages != 2 {
		t.Errorf("%+v, error %v", list, err)
	}
}

func TestNotify_LeavesOutMetaOfAnotherConnection(t *testing.T) {
	t.Parallel()
	up := mcptest.Start(t, mcptest.Script{})
	s := dial(t, mcp.Target{URL: up.URL})
	params := json.RawMessage(`{"a":1,"_meta":{"progressToken":7,"io.modelcontextprotocol/protocolVersion":"2026-07-28","x":true}}`)
	if err := s.Notify(t.Context(), "notifications/acme", params); err != nil {
		t.Fatal(err)
	}
	if got := up.Calls()[len(up.Calls())-1]; string(got.Params) != `{"a":1,"_meta":{"x":true}}` {
		t.Errorf("the server got %s", got.Params)
	}
}
