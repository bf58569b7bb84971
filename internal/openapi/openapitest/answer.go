package openapitest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"patchbay/internal/openapi"
	"patchbay/internal/openapi/httpcall"
)

// setAnswer makes an answer that the document describes: the first 2xx with JSON, else any other.
func (s *Server) setAnswer(method string, operation map[string]any) {
	if method == http.MethodHead {
		s.answer, s.media = nil, ""
		return
	}
	s.answer, s.media = []byte("\x00\x01binary\xff"), "application/octet-stream"
	schema, media := s.definition.jsonAnswer(operation)
	if value, ok := (sampler{root: s.definition.root}).Value(schema); schema != nil && ok {
		s.answer, s.media = []byte(encodeJSON(value)), media
	}
}

func sortedNames(object map[string]any) (names []string) {
	for name := range object {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// jsonContent returns the schema of the JSON content of a response.
func jsonContent(response map[string]any) (schema any, media string) {
	content, _ := response["content"].(map[string]any)
	for _, name := range sortedNames(content) {
		if c, _ := content[name].(map[string]any); isJSON(name) && c["schema"] != nil {
			return c["schema"], name
		}
	}
	return nil, ""
}

// toolResult is a result of MCP.
type toolResult struct {
	IsError bool
	Content []struct {
		Type, Text string
		Resource   struct{ Blob []byte }
	}
	StructuredContent json.RawMessage
}

// readResult reads a result, and compares its content with the answer.
func (s *Server) readResult(document []byte) (r toolResult, err error) {
	if err := json.Unmarshal(document, &r); err != nil {
		return r, err
	}
	if r.IsError || len(r.Content) != 1 {
		return r, fmt.Errorf("the result is %.500s", document)
	}
	have := r.Content[0].Text
	if r.Content[0].Type == "resource" {
		have = string(r.Content[0].Resource.Blob)
	}
	if len(s.answer) > 0 && have != string(s.answer) { // without an answer, the result says the status
		return r, fmt.Errorf("the result has %.200q, and %.200q was answered", have, s.answer)
	}
	return r, nil
}

// compareResult compares a result with the answer, byte for byte, and checks it as the Go SDK's client would.
func (s *Server) compareResult(b *openapi.Binding, outputSchema json.RawMessage, result httpcall.Result) error {
	r, err := s.readResult(result.JSON)
	if err != nil {
		return err
	}
	if len(outputSchema) == 0 {
		if len(r.StructuredContent) > 0 {
			return fmt.Errorf("there is structured content without a schema")
		}
		return nil
	}
	want := string(s.answer)
	if want == "" {
		want = "{}"
	} else if b.Result == openapi.ResultWrapped || !strings.HasPrefix(want, "{") {
		want = `{"result":` + want + `}`
	}
	if s.media != "application/octet-stream" && string(r.StructuredContent) != want {
		return fmt.Errorf("the structured content is %.200q, and %.200q was answered", r.StructuredContent, want)
	}
	return checkOutput(outputSchema, r.StructuredContent)
}

// checkOutput validates structured content with the library of the Go SDK.
func checkOutput(schema, content json.RawMessage) error {
	var parsed jsonschema.Schema
	if err := json.Unmarshal(schema, &parsed); err != nil {
		return fmt.Errorf("the output schema: %w", err)
	}
	resolved, err := parsed.Resolve(nil)
	if err != nil {
		return fmt.Errorf("the output schema: %w", err)
	}
	var value any
	if err := json.Unmarshal(content, &value); err != nil {
		return err
	}
	if err := resolved.Validate(value); err != nil {
		return fmt.Errorf("the answer does not match the output schema: %w", err)
	}
	return nil
}
