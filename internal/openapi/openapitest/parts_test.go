package openapitest_test

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"

	"patchbay/internal/openapi"
	"patchbay/internal/openapi/openapitest"
)

// TestTrip_FailsForWhatTheToolLost changes tools as an error of the reader would.
func TestTrip_FailsForWhatTheToolLost(t *testing.T) {
	t.Parallel()
	dropParameter := func(name string) func(*openapi.Tool) {
		return func(made *openapi.Tool) {
			made.Binding.Parameters = slices.DeleteFunc(made.Binding.Parameters, func(p openapi.Parameter) bool { return p.Argument == name })
		}
	}
	replace := func(old, with string) func(*openapi.Tool) {
		return func(made *openapi.Tool) {
			made.Definition = bytes.Replace(made.Definition, []byte(old), []byte(with), 1)
		}
	}
	parameter := func(made *openapi.Tool, name string) *openapi.Parameter {
		return &made.Binding.Parameters[slices.IndexFunc(made.Binding.Parameters, func(p openapi.Parameter) bool { return p.Argument == name })]
	}
	for name, tc := range map[string]struct {
		file, key, want string
		change          func(*openapi.Tool)
	}{
		"parameter":           {"hard.yaml", "GET /things/{id}", "parameter filter[name] in query: it is not in the binding", dropParameter("filter_name")},
		"parameter of a path": {"hard.yaml", "GET /things/{id}", "parameter id in path: it is not in the binding", dropParameter("id")},
		"argument":            {"hard.yaml", "GET /things/{id}", "is not in the input schema", replace(`"filter_name":`, `"other":`)},
		"required":            {"hard.yaml", "GET /things/{id}", "is required: false", replace(`"required":["id"]`, `"required":[]`)},
		"type":                {"hard.yaml", "GET /things/{id}", "the document says integer", replace(`"type":"integer"`, `"type":"boolean"`)},
		"place":               {"hard.yaml", "GET /things/{id}", "parameter id in header", func(m *openapi.Tool) { parameter(m, "header_id").In = "cookie" }},
		"explode":             {"hard.yaml", "GET /things/{id}", "explode true", func(m *openapi.Tool) { parameter(m, "query_id").Explode = false }},
		"style":               {"styles-3.1.yaml", "GET /anything/query/pipeDelimited", "the document says pipeDelimited", func(m *openapi.Tool) { m.Binding.Parameters[0].Style = "form" }},
		"invented parameter": {"hard.yaml", "GET /things/{id}", "is not in the document", func(m *openapi.Tool) {
			m.Binding.Parameters = append(m.Binding.Parameters, openapi.Parameter{Argument: "session", Name: "sid", In: "cookie"})
		}},
		"body":                 {"hard.yaml", "PUT /things/{id}", "the document has one", func(m *openapi.Tool) { m.Binding.Body = nil }},
		"media type":           {"hard.yaml", "POST /form", "the media type text/plain is not", func(m *openapi.Tool) { m.Binding.Body.Media = "text/plain" }},
		"member":               {"hard.yaml", "POST /form", "the member list is not in the binding", func(m *openapi.Tool) { m.Binding.Body.Fields = m.Binding.Body.Fields[:2] }},
		"member of a schema":   {"hard.yaml", "POST /pets", "the member lives is not", replace(`"lives":`, `"other":`)},
		"member of a name":     {"hard.yaml", "PATCH /things/{id}", "the member id is not in the binding", func(m *openapi.Tool) { m.Binding.Body.Fields[0].Name = "label" }},
		"output schema":        {"hard.yaml", "GET /things/{id}", "the tool has no output schema", replace(`"outputSchema":`, `"other":`)},
		"nothing":              {"hard.yaml", "GET /things/{id}", "", func(*openapi.Tool) {}},
		"swagger's form field": {"petstore-2.0.json", "POST /pet/{petId}", "the member name is not in the binding", func(m *openapi.Tool) { m.Binding.Body.Fields = m.Binding.Body.Fields[1:] }},
	} {
		file := "testdata/" + tc.file
		if tc.file == "hard.yaml" {
			file = "../testdata/hard.yaml"
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		server, err := openapitest.NewServer(text)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(server.Close)
		d, err := openapi.Read(text, openapi.Options{URL: "https://api.example.com/openapi.json"})
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(d.Operations, func(o *openapi.Operation) bool { return o.Key() == tc.key })
		if i < 0 {
			t.Fatalf("%s: no %s", name, tc.key)
		}
		made, err := d.Tool(d.Operations[i])
		if err != nil {
			t.Fatal(err)
		}
		tc.change(made)
		err = server.Trip(t.Context(), made, d.Operations[i])
		if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
			t.Errorf("%s: %v, want %q", name, err, tc.want)
		}
	}
}
