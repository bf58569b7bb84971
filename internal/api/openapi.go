package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/danielgtaylor/huma/v2"

	"patchbay/internal/respond"
)

const schemaPrefix = "#/components/schemas/"

const about = `Authenticate with an API key: Authorization: Bearer pb_key_…. x-least-role is the role that an operation requires; with x-own-agent it is also open
to the agent's signed-in owner. x-reauthentication marks operations that refuse browser sessions not confirmed within an hour, with the
code reauthentication_required; API keys are exempt. Every {id} of a connector or an agent also accepts its slug. Errors are problem documents (RFC 9457).`

// newConfig configures huma: no documentation page (it loads remote scripts), no $schema links, one format.
func (h *Handler) newConfig(version string) huma.Config {
	registry := huma.NewMapRegistry(schemaPrefix, schemaName)
	problem := registry.Schema(reflect.TypeFor[respond.ProblemDocument](), false, "")
	problem.Properties["errors"].Nullable = false // omitted if empty
	return huma.Config{
		OpenAPI: &huma.OpenAPI{
			OpenAPI: "3.1.0",
			Info:    &huma.Info{Title: "Patchbay", Version: version, Description: about},
			Components: &huma.Components{
				Schemas: registry,
				SecuritySchemes: map[string]*huma.SecurityScheme{
					"apiKey": {Type: "http", Scheme: "bearer", BearerFormat: "pb_key_…"},
				},
			},
			Security: []map[string][]string{{"apiKey": {}}},
		},
		Formats:       map[string]huma.Format{"application/json": jsonFormat, "json": jsonFormat},
		DefaultFormat: "application/json",
		Transformers:  []huma.Transformer{h.transform},
	}
}

// schemaName derives schema names from Go types: connectorJSON is Connector, list[connectorJSON] is
// ConnectorList.
func schemaName(t reflect.Type, hint string) string {
	name := huma.DefaultSchemaNamer(t, hint)
	name = strings.TrimSuffix(strings.ReplaceAll(name, "JSON", ""), "Document")
	if item, ok := strings.CutPrefix(name, "List"); ok && item != "" && unicode.IsUpper(rune(item[0])) {
		return item + "List"
	}
	return name
}

// prepareDocument completes doc, and returns a function that encodes /openapi.json once.
func prepareDocument(doc *huma.OpenAPI) func() ([]byte, error) {
	schemas := doc.Components.Schemas
	for _, humas := range []string{"ErrorModel", "ErrorDetail"} { // huma's error types, replaced by ours
		delete(schemas.Map(), humas)
	}
	openAnswers(doc)
	return sync.OnceValues(func() ([]byte, error) {
		var out bytes.Buffer
		enc := json.NewEncoder(&out)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		if err := enc.Encode(doc); err != nil {
			return nil, fmt.Errorf("encode the OpenAPI document: %w", err)
		}
		return out.Bytes(), nil
	})
}

// openAnswers allows further fields in response objects, which later versions may add. Request bodies stay
// closed.
func openAnswers(doc *huma.OpenAPI) {
	closed := map[string]bool{}
	for _, path := range doc.Paths {
		for _, op := range []*huma.Operation{path.Post, path.Put, path.Patch} {
			if op != nil && op.RequestBody != nil {
				namesIn(doc.Components.Schemas, op.RequestBody.Content["application/json"].Schema, closed)
			}
		}
	}
	for name, schema := range doc.Components.Schemas.Map() {
		if schema.AdditionalProperties == false && !closed[name] {
			schema.AdditionalProperties = nil
		}
	}
}

// namesIn collects the names of the schemas that s refers to.
func namesIn(registry huma.Registry, s *huma.Schema, names map[string]bool) {
	if s.Ref != "" {
		names[strings.TrimPrefix(s.Ref, schemaPrefix)] = true
		s = registry.SchemaFromRef(s.Ref)
	}
	for _, property := range s.Properties {
		namesIn(registry, property, names)
	}
}

// Document is the served OpenAPI document. Callers must not change it.
func (h *Handler) Document() ([]byte, error) { return h.document() }

// serveDocument serves GET /openapi.json, which is public.
func (h *Handler) serveDocument(w http.ResponseWriter, r *http.Request) {
	document, err := h.document()
	if err != nil {
		h.respond.Problem(w, r, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-cache")
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(document))
}
