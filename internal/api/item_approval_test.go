package api_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"testing"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/mcp/mcptest"
	"patchbay/internal/toolcall"
)

// itemWorld is a world with an agent that needs approval for the prompt greet and the resource file:///a/b.
type itemWorld struct {
	*callWorld
	kinds map[connectors.CallKind]toolcall.UpstreamRequest
}

func newItemWorld(t *testing.T) *itemWorld {
	t.Helper()
	w := newCallWorld(t, connectors.ApprovalAskAll)
	up := mcptest.Start(t, mcptest.Script{On: map[string]mcptest.Handler{
		"prompts/get":    mcptest.Answer("application/json", func(c mcptest.Call) string { return mcptest.Result(c, `{"messages":[]}`) }),
		"resources/read": mcptest.Answer("application/json", func(c mcptest.Call) string { return mcptest.Result(c, `{"contents":[]}`) }),
	}})
	c := w.Connector(t, withURL(up.URL), func(d *connectors.Draft) { d.Slug = "items" })
	items := []connectors.Item{
		{Kind: connectors.ItemPrompt, Key: "greet", Raw: []byte(`{"name":"greet"}`)},
		{Kind: connectors.ItemResource, Key: "file:///a/b", Raw: []byte(`{"uri":"file:///a/b","name":"b"}`)},
	}
	if _, err := w.Door().Connectors().SaveItems(t.Context(), c.ID, connectors.HashItems(items), items); err != nil {
		t.Fatal(err)
	}
	w.connector = c
	w.grant(t, connectors.Grant{AllTools: true})
	return &itemWorld{w, map[connectors.CallKind]toolcall.UpstreamRequest{
		connectors.CallPrompt:   {Name: "greet", ExposedName: "mcp_items__greet", Method: "prompts/get", Params: json.RawMessage(`{"name":"greet","arguments":{"x":"1"}}`)},
		connectors.CallResource: {Name: "file:///a/b", ExposedName: "patchbay+items:file:///a/b", Method: "resources/read", Params: json.RawMessage(`{"uri":"file:///a/b"}`)},
	}}
}

// use uses the prompt or the resource in the background.
func (w *itemWorld) use(t *testing.T, kind connectors.CallKind) chan error {
	t.Helper()
	view, err := w.access.LoadUncached(t.Context(), w.Tenant, connectors.Ref(w.agent.Slug))
	if err != nil {
		t.Fatal(err)
	}
	q, ctx := w.kinds[kind], context.WithoutCancel(t.Context())
	q.View, q.Connector, q.Kind, q.Source = view, view.Connector("items"), kind, connectors.SourceGateway
	done := make(chan error, 1)
	go func() {
		_, err := w.caller.SendRequest(ctx, q)
		done <- err
	}()
	return done
}

// waiting returns the only approval of the API's list, once there is one.
func (w *itemWorld) waiting(t *testing.T, key string) map[string]any {
	t.Helper()
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for deadline := time.After(30 * time.Second); ; {
		list := w.call(t, key, http.MethodGet, "/api/v1/approvals", nil).want(http.StatusOK)["items"].([]any)
		if len(list) > 0 {
			return list[0].(map[string]any)
		}
		select {
		case <-again.C:
		case <-deadline:
			t.Fatal("nothing waits")
		}
	}
}

func TestItemApproval_HasKindAndIsDecided(t *testing.T) {
	t.Parallel()
	w := newItemWorld(t)
	member := w.createKey(t, connectors.RoleMember)
	for kind, want := range map[connectors.CallKind]map[string]any{
		connectors.CallPrompt:   {"kind": "prompt", "tool": "mcp_items__greet", "name": "greet", "x": "1"},
		connectors.CallResource: {"kind": "resource", "tool": "patchbay+items:file:///a/b", "name": "file:///a/b"},
	} {
		done := w.use(t, kind)
		a := w.waiting(t, member)
		arguments, _ := a["arguments"].(map[string]any)
		if a["kind"] != want["kind"] || a["tool"] != want["tool"] || a["name"] != want["name"] || arguments["x"] != want["x"] || a["annotations"] != nil || a["effect"] != "" {
			t.Errorf("%v", a)
		}
		w.call(t, member, http.MethodPost, "/api/v1/tool_calls/"+a["id"].(string)+"/approve", nil).want(http.StatusOK)
		if err := <-done; err != nil {
			t.Errorf("%s: %v", kind, err)
		}
		if call := w.waitForStatus(t, a, "success"); call["kind"] != want["kind"] || call["approved_by"] == "" {
			t.Errorf("%v", call)
		}
		done = w.use(t, kind)
		path := "/api/v1/tool_calls/" + w.waiting(t, member)["id"].(string)
		w.call(t, member, http.MethodPost, path+"/deny", `{"reason": "no"}`).want(http.StatusOK)
		if err := <-done; err == nil {
			t.Errorf("%s: a denied use is served", kind)
		}
	}
}

func TestItemAllowance_IsListedAndEnded(t *testing.T) {
	t.Parallel()
	w := newItemWorld(t)
	member := w.createKey(t, connectors.RoleMember)
	list := "/api/v1/agents/" + w.agent.Slug + "/allowances"
	for kind, name := range map[connectors.CallKind]string{connectors.CallPrompt: "greet", connectors.CallResource: "file:///a/b"} {
		done := w.use(t, kind)
		path := "/api/v1/tool_calls/" + w.waiting(t, member)["id"].(string) + "/approve"
		w.call(t, member, http.MethodPost, path, `{"allow_for_s": 7200}`).want(http.StatusOK)
		if err := <-done; err != nil {
			t.Errorf("%s: %v", kind, err)
		}
		if err := <-w.use(t, kind); err != nil {
			t.Errorf("%s: an allowed use: %v", kind, err)
		}
		items := w.call(t, member, http.MethodGet, list, nil).want(http.StatusOK)["items"].([]any)
		if len(items) != 1 {
			t.Fatalf("%v", items)
		}
		if a := items[0].(map[string]any); a["kind"] != string(kind) || a["tool"] != name || a["in_force"] != true || a["connector"] != "items" {
			t.Errorf("%v", a)
		}
		one := "/api/v1/agents/" + w.agent.Slug + "/connectors/items/allowances/" + url.PathEscape(name)
		w.call(t, member, http.MethodDelete, one, nil).problem(http.StatusNotFound, "not-found") // of a tool
		w.call(t, member, http.MethodDelete, one+"?kind=other", nil).problem(http.StatusUnprocessableEntity, "invalid")
		if got := w.call(t, member, http.MethodDelete, one+"?kind="+string(kind), nil); got.status != http.StatusNoContent {
			t.Errorf("%s: %d %s", kind, got.status, got.body)
		}
		if items = w.call(t, member, http.MethodGet, list, nil).want(http.StatusOK)["items"].([]any); len(items) > 0 {
			t.Errorf("ended: %v", items)
		}
		done = w.use(t, kind)
		w.call(t, member, http.MethodPost, "/api/v1/tool_calls/"+w.waiting(t, member)["id"].(string)+"/deny", nil).want(http.StatusOK)
		<-done
	}
}
