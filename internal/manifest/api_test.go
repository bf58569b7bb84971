package manifest_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patchbay/client"
	"patchbay/internal/manifest"
)

// httpAPIState is an installation with one HTTP API.
func httpAPIState() manifest.State {
	return manifest.State{
		Connectors: map[string]client.Connector{"pets": {Slug: "pets", Name: "Pets", Kind: "http", Transport: "api", URL: "https://pets.example/openapi.json", Enabled: true, Auth: client.Auth{Type: "none"}}},
		APIs: map[string]manifest.APIState{"pets": {
			Document:   client.DocumentInfo{DocumentURL: new("https://pets.example/openapi.json"), Size: 10},
			Operations: map[string]client.Operation{"GET /pets": {Key: "GET /pets", Filter: new(".items"), MaxPages: new(int64(3)), Annotations: map[string]bool{"openWorldHint": false}}, "POST /pets": {Key: "POST /pets"}},
			Endpoints:  map[string]client.Endpoint{"ping": {Name: "ping", Method: new("GET"), URL: "https://pets.example/ping/{word}", Headers: map[string]string{"X-A": "b"}, Annotations: map[string]bool{"idempotentHint": true}, InputSchema: []byte(`{"type":"object","properties":{"word":{"type":"string","minLength":1}}}`)}},
		}},
	}
}

func TestWrite_ReadsBackAnHTTPAPI(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	state := httpAPIState()
	if err := manifest.Write(&text, state); err != nil {
		t.Fatal(err)
	}
	file, err := manifest.Read([]byte(text.String()), manifest.Sources{})
	if err != nil {
		t.Fatalf("%v\n%s", err, text.String())
	}
	if !strings.Contains(text.String(), "idempotentHint: true") {
		t.Errorf("no annotations of the endpoint:\n%s", text.String())
	}
	steps, err := manifest.Plan(t.Context(), nil, file, state, manifest.Options{})
	if err != nil || len(steps) > 0 {
		t.Errorf("%v, %+v\n%s", err, steps, text.String())
	}
	steps, err = manifest.Plan(t.Context(), nil, file, manifest.State{}, manifest.Options{})
	var made []string
	for _, s := range steps {
		made = append(made, s.Action+" "+s.Kind+" "+s.Name)
	}
	if diff := cmp.Diff([]string{"create connector pets", "change operations pets"}, made); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
}

func TestPlan_ChangesAnHTTPAPI(t *testing.T) {
	t.Parallel()
	file, err := manifest.Read([]byte(`connectors: {pets: {kind: http, document_url: "https://pets.example/v2.json", operations: ["GET /pets", "GET /pets/{id}"],
		endpoints: {pong: {url: "https://pets.example/pong"}}}}`), manifest.Sources{})
	if err != nil {
		t.Fatal(err)
	}
	steps, err := manifest.Plan(t.Context(), nil, file, httpAPIState(), manifest.Options{})
	var made []string
	for _, s := range steps {
		for _, f := range append(s.Fields, manifest.Field{}) {
			made = append(made, strings.TrimSpace(s.Action+" "+s.Kind+" "+s.Name+" "+f.Name))
		}
	}
	want := []string{
		"change connector pets document_url", "change connector pets", "change operations pets operations", "change operations pets",
		"delete endpoint pets ping", "create endpoint pets pong url", "create endpoint pets pong",
	}
	if diff := cmp.Diff(want, made); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
}

func TestRead_DocumentOfAFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	document := strings.Repeat("# a comment\n", 500_000) + "openapi: 3.1.0\n"
	if err := os.WriteFile(filepath.Join(dir, "api.yaml"), []byte(document), 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := manifest.Read([]byte(`connectors: {a: {kind: http, url: "https://a.example", document: {file: api.yaml}}}`), manifest.Sources{Dir: dir})
	if err != nil || file.Connectors["a"].API.Document != document {
		t.Errorf("%v", err)
	}
	var text strings.Builder
	state := httpAPIState()
	api := state.APIs["pets"]
	api.Document = client.DocumentInfo{Text: &document}
	state.APIs["pets"] = api
	if err := manifest.Write(&text, state); err != nil {
		t.Fatal(err)
	}
	if file, err = manifest.Read([]byte(text.String()), manifest.Sources{}); err != nil || file.Connectors["pets"].API.Document != document {
		t.Errorf("a document of %d bytes isn't read back: %v", len(document), err)
	}
}

func TestRead_RefusesMixedHTTPAPIs(t *testing.T) {
	t.Parallel()
	for text, says := range map[string]string{
		`{kind: soap}`: `connectors.a.kind: must be "mcp" or "http"`,
		`{kind: http, document_url: "https://a", url: "https://b"}`: "connectors.a.document_url: stands alone, without url or document",
		`{kind: http, endpoints: {x: {colour: red}}}`:               `connectors.a.endpoints.x: unknown field "colour"`,
		`{document_url: "https://a", operations: [1]}`:              "connectors.a",
		`{kind: http, document: {file: none.yaml}}`:                 "connectors.a.document: open none.yaml",
		`{kind: http, document: {env: A}}`:                          "connectors.a.document: must be a string or {file: PATH}",
	} {
		if _, err := manifest.Read([]byte("connectors: {a: "+text+"}"), manifest.Sources{}); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
