package api

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"patchbay/internal/fault"
)

// FuzzBodies: a body is accepted if the OpenAPI document and huma accept it. An error has a path and no value,
// which can be a secret.
func FuzzBodies(f *testing.F) {
	for i, seed := range []string{
		`{"name":"Linear","url":"https://mcp.example.com/mcp","auth":{"type":"bearer","token":"f00d-s3cret"},"headers":{"X-Team":"eu"},"timeout_ms":30000}`,
		`{"name":null,"auth":{"resource":null,"tken":"f00d-s3cret"},"args":["a",1]}`, `{"tools":"all","approval":"always_ask"}`, `{"tools":["a","b\u0000"],"trusted_tools":["a"]}`,
		`{"url":"https://hooks.example.com","events":["tool.changed"],"enabled":1e0}`, `{"token":"f00d-s3cret","env":{"A":"f00d-s3cret"}}`,
		`{"tool":"x","arguments":{"a":[{}]}}`, `{"name":"x","name":"y","Name":"z"}`, `[]`, ` `, `{"a":`, `{} {}`, "\"\xff\"", `{"calls_per_minute":99999999999999999999}`, `{"until":"2026-01-31T12:00:00Z"}`,
	} {
		f.Add(i, []byte(seed))
	}
	registry := huma.NewMapRegistry(schemaPrefix, schemaName)
	readers := []bodyReader{
		newBodyReader[connectorCreate](registry), newBodyReader[connectorPatch](registry), newBodyReader[agentPatch](registry), newBodyReader[agentGrantPut](registry), newBodyReader[webhookPatch](registry), newBodyReader[registryPatch](registry), newBodyReader[auditStreamPatch](registry),
		newBodyReader[secretPut](registry), newBodyReader[toolCallCreate](registry), newBodyReader[ToolPatch](registry), newBodyReader[memberPatch](registry), newBodyReader[ssoDomainInput](registry),
	}
	f.Fuzz(func(t *testing.T, which int, raw []byte) {
		r := readers[uint(which)%uint(len(readers))]
		err := r.read(raw)
		if err != nil {
			checkRefusal(t, raw, err)
			return
		}
		var plain any
		if err := json.Unmarshal(raw, &plain); err != nil || !utf8.Valid(raw) {
			t.Fatalf("%q is read: %v", raw, err)
		}
		found := &huma.ValidateResult{}
		huma.Validate(registry, r.schema, huma.NewPathBuffer(nil, 0), huma.ModeWriteToServer, plain, found)
		if len(found.Errors) > 0 {
			t.Errorf("%q is read, and huma says %v", raw, found.Errors)
		}
	})
}

// bodyReader reads bodies of one type.
type bodyReader struct {
	schema *huma.Schema
	read   func(raw []byte) error
}

func newBodyReader[T any](registry huma.Registry) bodyReader {
	schema := registry.Schema(reflect.TypeFor[T](), true, "")
	return bodyReader{schema, func(raw []byte) error {
		_, err := requestBody[T]{body: strings.NewReader(string(raw)), check: bodySchema{registry: registry, schema: schema, required: true}}.readJSON()
		return err
	}}
}

// checkRefusal fails if an error is not a public one, or repeats a value of the body.
func checkRefusal(t *testing.T, raw []byte, err error) {
	t.Helper()
	if !fault.Is(err, fault.Malformed) && !fault.Is(err, fault.Invalid) {
		t.Fatalf("%q: %v", raw, err)
	}
	var told strings.Builder
	told.WriteString(err.Error())
	for _, field := range fault.As(err).Fields {
		told.WriteString("\n" + field.Location + " " + field.Message)
	}
	var body any
	if json.Unmarshal(raw, &body) != nil {
		return
	}
	names, values := []string{}, []string{}
	collectTexts(body, &names, &values)
	slices.SortFunc(names, func(a, b string) int { return len(b) - len(a) })
	said := told.String()
	for _, name := range names {
		said = strings.ReplaceAll(said, childPath("", name), "")
	}
	for _, value := range values {
		if strings.Contains(value, "s3cret") && strings.Contains(said, value) {
			t.Errorf("%q is refused with %q", raw, told.String())
		}
	}
	if !utf8.ValidString(said) {
		t.Errorf("%q is refused with %q", raw, said)
	}
}

// collectTexts collects the keys and strings of a document.
func collectTexts(v any, names, values *[]string) {
	switch v := v.(type) {
	case map[string]any:
		for name, inside := range v {
			*names = append(*names, name)
			collectTexts(inside, names, values)
		}
	case []any:
		for _, inside := range v {
			collectTexts(inside, names, values)
		}
	case string:
		*values = append(*values, v)
	}
}
