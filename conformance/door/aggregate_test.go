package main

import (
	"net/http"
	"testing"
)

func TestExposedNames_RewriteNamesInRequests(t *testing.T) {
	t.Parallel()
	names := exposedNames{slug: "one"}
	const missing = `{"id":1,"jsonrpc":"2.0","method":"resources/read","params":{"uri":"test://nonexistent-resource"}}`
	for sent, want := range map[string]string{
		`{"id":1,"method":"tools/call","params":{"arguments":{"name":"a"},"name":"a"}}`:          `{"id":1,"method":"tools/call","params":{"arguments":{"name":"a"},"name":"mcp_one__a"}}`,
		`{"id":1,"method":"prompts/get","params":{"name":"mcp_two__a"}}`:                         `{"id":1,"method":"prompts/get","params":{"name":"mcp_two__a"}}`,
		`{"id":1,"method":"resources/read","params":{"uri":"test://a"}}`:                         `{"id":1,"method":"resources/read","params":{"uri":"patchbay+one:test://a"}}`,
		`{"id":1,"method":"completion/complete","params":{"ref":{"name":"a","type":"b"}}}`:       `{"id":1,"method":"completion/complete","params":{"ref":{"name":"mcp_one__a","type":"b"}}}`,
		`{"id":1,"method":"completion/complete","params":{"ref":{"type":"b","uri":"test://a"}}}`: `{"id":1,"method":"completion/complete","params":{"ref":{"type":"b","uri":"patchbay+one:test://a"}}}`,
		`{"id":1, "method":"tools/list", "params":{"name":"a"}}`:                                 `{"id":1, "method":"tools/list", "params":{"name":"a"}}`,
		missing: missing,
		`[`:     `[`,
	} {
		if got := string(names.exposeRequest([]byte(sent), http.Header{})); got != want {
			t.Errorf("%s\n became %s\n    not %s", sent, got, want)
		}
	}
}

func TestExposedNames_RewriteHeader(t *testing.T) {
	t.Parallel()
	header := http.Header{"Mcp-Name": {"a"}}
	exposedNames{slug: "one"}.exposeRequest([]byte(`{"method":"tools/call","params":{"name":"b"}}`), header)
	if got := header.Get("Mcp-Name"); got != "mcp_one__a" {
		t.Errorf("the header is %q", got)
	}
}
