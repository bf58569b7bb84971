package openapi_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"patchbay/internal/openapi"
)

// checkMade checks what holds for every tool.
func checkMade(t *testing.T, made *openapi.Tool) {
	t.Helper()
	if !json.Valid(made.Definition) || !utf8.Valid(made.Definition) || made.Name == "" || len(made.Name) > 64 {
		t.Errorf("%q: %s", made.Name, made.Definition)
	}
	if !strings.HasPrefix(made.Binding.Server, "http") || !strings.HasPrefix(made.Binding.Path, "/") {
		t.Errorf("%s", made.Binding.JSON())
	}
	if again, err := openapi.ReadBinding(made.Binding.JSON()); err != nil || string(again.JSON()) != string(made.Binding.JSON()) {
		t.Errorf("%s: %v", made.Binding.JSON(), err)
	}
}

func TestEndpoint_IsTool(t *testing.T) {
	t.Parallel()
	made, err := openapi.Endpoint{
		Name: "create_note", Method: "post", URL: "https://api.example.com/users/{user}/notes?notify={notify}&v=2",
		Headers: []openapi.Header{{Name: "X-Team", Value: "{team}"}, {Name: "X-Fixed", Value: "1"}}, Media: "application/json",
		Body: `{"text":"{text}","meta":{"by":"agent {user}","n":1}}`, Filter: ".id",
		Input: json.RawMessage(`{"type":"object","properties":{"text":{"type":"string","minLength":1},"notify":{"type":"boolean"}},"required":["text"]}`),
	}.Tool()
	if err != nil {
		t.Fatal(err)
	}
	checkMade(t, made)
	want := `{"v":1,"method":"POST","server":"https://api.example.com","path":"/users/{user}/notes","parameters":[` +
		`{"argument":"user","name":"user","in":"path","style":"simple","required":true},{"argument":"notify","name":"notify","in":"query","style":"form","explode":true},` +
		`{"name":"v","in":"query","value":"2"},{"argument":"team","name":"X-Team","in":"header","style":"simple"},{"name":"X-Fixed","in":"header","value":"1"}],` +
		`"body":{"media":"application/json","fields":[{"argument":"text","name":"text"}],"template":{"text":"{text}","meta":{"by":"agent {user}","n":1}}},"accept":"application/json","filter":".id"}`
	if string(made.Binding.JSON()) != want {
		t.Errorf("%s", made.Binding.JSON())
	}
	schema := `"properties":{"user":{"type":"string"},"notify":{"type":"boolean"},"team":{"type":"string"},"text":{"type":"string","minLength":1}},"required":["user","text"],"additionalProperties":false}`
	if !strings.Contains(string(made.Definition), schema) {
		t.Errorf("%s", made.Definition)
	}
}

func TestEndpoint_RefusesWhatArgumentsCouldMove(t *testing.T) {
	t.Parallel()
	good := openapi.Endpoint{Name: "a", URL: "https://api.example.com/{x}"}
	for name, change := range map[string]func(*openapi.Endpoint){
		"host":              func(e *openapi.Endpoint) { e.URL = "https://{host}/a" },
		"part of a host":    func(e *openapi.Endpoint) { e.URL = "https://{host}.example.com/a" },
		"scheme":            func(e *openapi.Endpoint) { e.URL = "{s}://api.example.com/a" },
		"user":              func(e *openapi.Endpoint) { e.URL = "https://u:p@api.example.com/a" },
		"way up":            func(e *openapi.Endpoint) { e.URL = "https://api.example.com/a/../{x}" },
		"open brace":        func(e *openapi.Endpoint) { e.URL = "https://api.example.com/{x" },
		"name in the query": func(e *openapi.Endpoint) { e.URL = "https://api.example.com/?{x}=1" },
		"part of a value":   func(e *openapi.Endpoint) { e.URL = "https://api.example.com/?a=b{x}" },
		"refused header":    func(e *openapi.Endpoint) { e.Headers = []openapi.Header{{Name: "Host", Value: "x"}} },
		"header's end":      func(e *openapi.Endpoint) { e.Headers = []openapi.Header{{Name: "X-A", Value: "a\r\nB: c"}} },
		"header's name":     func(e *openapi.Endpoint) { e.Headers = []openapi.Header{{Name: "X A", Value: "a"}} },
		"method":            func(e *openapi.Endpoint) { e.Method = "GET /x" },
		"connect":           func(e *openapi.Endpoint) { e.Method = "CONNECT" },
		"tool's name":       func(e *openapi.Endpoint) { e.Name = "a b" },
		"body":              func(e *openapi.Endpoint) { e.Media, e.Body = "application/json", `{"a":{x}}` },
		"media type":        func(e *openapi.Endpoint) { e.Media = "json" },
		"schema":            func(e *openapi.Endpoint) { e.Input = json.RawMessage(`[]`) },
		"unused argument":   func(e *openapi.Endpoint) { e.Input = json.RawMessage(`{"type":"object","properties":{"y":{}}}`) },
		"answer's schema":   func(e *openapi.Endpoint) { e.Output = json.RawMessage(`1`) },
	} {
		e := good
		change(&e)
		if made, err := e.Tool(); err == nil {
			t.Errorf("%s: %s", name, made.Binding.JSON())
		}
	}
	if _, err := good.Tool(); err != nil {
		t.Error(err)
	}
}
