package mcp_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/mcp"
	"patchbay/internal/mcp/mcptest"
)

func newAnnotatedTool(name, properties string) string {
	return fmt.Sprintf(`{"name":%q,"inputSchema":{"type":"object","properties":{%s}}}`, name, properties)
}

func TestCall_ParamsAreMirroredIntoHeaders(t *testing.T) {
	t.Parallel()
	up := startCallServer(t, true, newResultHandler(`{"content":[]}`))
	schema := `{"type":"object","properties":{
		"s":{"type":"string","x-mcp-header":"S"},"b":{"type":"boolean","x-mcp-header":"B"},"i":{"type":"integer","x-mcp-header":"I"},
		"f":{"type":"integer","x-mcp-header":"F"},"big":{"type":"integer","x-mcp-header":"Big"},"none":{"type":"string","x-mcp-header":"None"},
		"null":{"type":["string","null"],"x-mcp-header":"Null"},"plain":{"type":"string"},
		"deep":{"type":"object","properties":{"s":{"type":"string","x-mcp-header":"Deep"}}},
		"x-mcp-header":{"type":"string"}}}`
	_, err := dial(t, mcp.Target{URL: up.URL}).Call(t.Context(), mcp.Call{
		Name: "tool ü", InputSchema: json.RawMessage(schema),
		Arguments: json.RawMessage(`{"s":" ü\r\nX-Evil: 1","b":false,"i":-7,"f":4.2e1,"big":1e999999999,"null":null,"plain":"p","deep":{"s":"=?base64?x?="}}`),
	})
	if err != nil {
		t.Fatal(err)
	}
	calls := up.Calls()
	got := map[string]string{}
	for name, values := range calls[len(calls)-1].Header {
		if strings.HasPrefix(name, "Mcp-Param-") || name == "Mcp-Name" || name == "X-Evil" {
			got[name] = strings.Join(values, "|")
		}
	}
	want := map[string]string{
		"Mcp-Name": "=?base64?dG9vbCDDvA==?=", "Mcp-Param-S": "=?base64?IMO8DQpYLUV2aWw6IDE=?=", "Mcp-Param-B": "false",
		"Mcp-Param-I": "-7", "Mcp-Param-F": "42", "Mcp-Param-Big": "1e999999999", "Mcp-Param-Deep": "=?base64?PT9iYXNlNjQ/eD89?=",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("headers (-want +got):\n%s", diff)
	}
}

func TestTools_InvalidHeaderAnnotationIsQuarantined(t *testing.T) {
	t.Parallel()
	tools := map[string]string{
		`"a":{"type":"string","x-mcp-header":"A"},"b":{"type":"integer","x-mcp-header":"B"}`: "",
		`"x-mcp-header":{"type":"string","default":{"x-mcp-header":""}}`:                     "",
		`"a":{"type":"string","x-mcp-header":""}`:                                            "The tool's x-mcp-header is empty.",
		`"a":{"type":"string","x-mcp-header":1}`:                                             "The tool's x-mcp-header is not a string.",
		`"a":{"type":"string","x-mcp-header":"A b"}`:                                         "The tool's x-mcp-header is not a header name.",
		`"a":{"type":"string","x-mcp-header":"Ä"}`:                                           "The tool's x-mcp-header is not a header name.",
		`"a":{"type":"string","x-mcp-header":"A"},"b":{"type":"string","x-mcp-header":"a"}`:  "The tool's x-mcp-header is used by two parameters.",
		`"a":{"type":"number","x-mcp-header":"A"}`:                                           "The tool's x-mcp-header needs a string, integer or boolean parameter.",
		`"a":{"x-mcp-header":"A"}`:                                                           "The tool's x-mcp-header needs a string, integer or boolean parameter.",
		`"a":{"type":"array","items":{"type":"string","x-mcp-header":"A"}}`:                  "The tool's x-mcp-header isn't reachable through properties.",
		`"a":{"anyOf":[{"properties":{"b":{"type":"string","x-mcp-header":"A"}}}]}`:          "The tool's x-mcp-header isn't reachable through properties.",
	}
	for properties, want := range tools {
		for _, modern := range []bool{true, false} {
			up := mcptest.Start(t, mcptest.Script{Modern: modern, Tools: []string{newAnnotatedTool("odd", properties), mcptest.Tool("plain")}})
			list, err := dial(t, mcp.Target{URL: up.URL}).Tools(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			for _, q := range list.Quarantined {
				got += *q.Name + " " + q.Reason
			}
			if expect := strings.TrimSuffix("odd "+want, "odd "); modern && got != expect || !modern && got != "" {
				t.Errorf("%s, modern %v: set aside %q", properties, modern, got)
			}
		}
	}
}

func TestCall_HeaderMismatchRefreshesSchema(t *testing.T) {
	t.Parallel()
	up := mcptest.Start(t, mcptest.Script{Modern: true, Tools: []string{newAnnotatedTool("a", `"r":{"type":"string","x-mcp-header":"R"}`)}, On: map[string]mcptest.Handler{
		"tools/call": func(w http.ResponseWriter, r *http.Request, c mcptest.Call) {
			if c.Header.Get("Mcp-Param-R") != "eu" {
				mcptest.Status(400, mcptest.Failure(c, -32020, "Header mismatch"))(w, r, c)
				return
			}
			newResultHandler(`{"content":[]}`)(w, r, c)
		},
	}})
	s := dial(t, mcp.Target{URL: up.URL})
	if _, err := s.Call(t.Context(), mcp.Call{Name: "a", Arguments: json.RawMessage(`{"r":"eu"}`)}); err != nil {
		t.Fatal(err)
	}
	_, err := s.Call(t.Context(), mcp.Call{Name: "a", Arguments: json.RawMessage(`{"r":"us"}`)})
	if f := newErrorFacts(t, err); f.RPC != -32020 || countRequests(up, "tools/call") != 4 || countRequests(up, "tools/list") != 2 {
		t.Errorf("%+v after %v", f, up.Methods())
	}
}
