package serve_test

import (
	"testing"

	"patchbay/internal/mcp/serve"
)

func TestComplete_AddsRequiredMembers(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ method, result, want string }{
		{"tools/call", `{}`, `{"resultType":"complete"}`},
		{"tools/call", `{ }`, `{"resultType":"complete" }`},
		{"tools/call", `{"content":[]}`, `{"resultType":"complete","content":[]}`},
		{"tools/call", `{"resultType":"complete","content":[]}`, `{"resultType":"complete","content":[]}`},
		{"tools/call", `{"content":[],"resultType":"complete"}`, `{"content":[],"resultType":"complete"}`},
		{"tools/call", `{"content":[{"x":1,"resultType":"complete"}]}`, `{"resultType":"complete","content":[{"x":1,"resultType":"complete"}]}`},
		{"tools/call", `{"structuredContent":{"x":1,"resultType":"complete"}}`, `{"resultType":"complete","structuredContent":{"x":1,"resultType":"complete"}}`},
		{"tools/call", `{"content":[], "resultType" : "complete" , "isError":false}`, `{"content":[], "resultType" : "complete" , "isError":false}`},
		{"tools/call", `{"resultType":"task","x":1}`, `{"resultType":"task","x":1}`},
		{"tools/call", `{"content":[{"text":"resultType cacheScope"}]}`, `{"resultType":"complete","content":[{"text":"resultType cacheScope"}]}`},
		{"tools/list", `{"tools":[]}`, `{"resultType":"complete","ttlMs":0,"cacheScope":"private","tools":[]}`},
		{"prompts/list", `{"resultType":"complete","ttlMs":5,"prompts":[]}`, `{"cacheScope":"private","resultType":"complete","ttlMs":5,"prompts":[]}`},
		{"resources/read", `{"contents":[],"cacheScope" : "public","ttlMs":5}`, `{"resultType":"complete","contents":[],"cacheScope" : "private","ttlMs":5}`},
		{"resources/read", `{"resultType":"input_required","inputRequests":{}}`, `{"resultType":"input_required","inputRequests":{}}`},
		{"resources/templates/list", `{"resultType":"complete","ttlMs":0,"cacheScope":"private"}`, `{"resultType":"complete","ttlMs":0,"cacheScope":"private"}`},
	} {
		if have := string(serve.WithModernMembers(tc.method, []byte(tc.result))); have != tc.want {
			t.Errorf("%s %s\n%s", tc.method, tc.result, have)
		}
	}
}

func TestPeerCan_ReadsCapabilityPath(t *testing.T) {
	t.Parallel()
	for capabilities, can := range map[string]map[string]bool{
		`{"elicitation":{}}`:                                  {"elicitation": true, "elicitation.form": true, "elicitation.url": false, "sampling": false},
		`{"elicitation":{"url":{}}}`:                          {"elicitation": true, "elicitation.form": false, "elicitation.url": true},
		`{"elicitation":{"form":{},"url":{}}}`:                {"elicitation.form": true, "elicitation.url": true},
		`{"sampling":{"tools":{}},"roots":null}`:              {"sampling": true, "sampling.tools": true, "sampling.context": false, "roots": false},
		`{"tasks":{}}`:                                        {"tasks": true},
		`{"extensions":{"io.modelcontextprotocol/tasks":{}}}`: {"tasks": false},
		``: {"elicitation": false, "elicitation.form": false, "tasks": false},
	} {
		p := serve.Client{Capabilities: []byte(capabilities)}
		for name, want := range can {
			if p.Can(name) != want {
				t.Errorf("%s: %s is %v", capabilities, name, !want)
			}
		}
	}
	modern := serve.Client{Modern: true, Capabilities: []byte(`{"extensions":{"io.modelcontextprotocol/tasks":{}}}`)}
	if !modern.Can("tasks") {
		t.Error("tasks are an extension in the modern era")
	}
}
