package openapi_test

import (
	"encoding/json"
	"os"
	"testing"

	"patchbay/internal/openapi"
)

func readHard(t *testing.T, o openapi.Options) *openapi.Document {
	t.Helper()
	text, err := os.ReadFile("testdata/hard.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if o.URL == "" {
		o.URL = "https://example.com/api/openapi.yaml"
	}
	return readDocument(t, string(text), o)
}

func readDocument(t *testing.T, text string, o openapi.Options) *openapi.Document {
	t.Helper()
	d, err := openapi.Read([]byte(text), o)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// tool is a definition as a client reads it.
type tool struct {
	*openapi.Tool
	Title, Description string
	InputSchema        schema
	OutputSchema       *schema
	Annotations        map[string]bool
}

type schema struct {
	Properties map[string]json.RawMessage
	Required   []string
	Defs       map[string]json.RawMessage `json:"$defs"`
}

func makeTool(t *testing.T, d *openapi.Document, key string) tool {
	t.Helper()
	for _, o := range d.Operations {
		if o.Key() == key {
			made, err := d.Tool(o)
			if err != nil {
				t.Fatal(err)
			}
			out := tool{Tool: made}
			if err := json.Unmarshal(made.Definition, &out); err != nil {
				t.Fatal(err)
			}
			return out
		}
	}
	t.Fatalf("there is no %s", key)
	return tool{}
}

// document returns a document with one operation.
func document(version, operation, components string) string {
	return `{"openapi":"` + version + `","info":{"title":"T","version":"1"},"servers":[{"url":"https://api.example.com"}],"paths":{"/a":` + operation +
		`},"components":` + components + `}`
}

// post returns an operation with a body of a schema.
func post(schema string) string {
	return `{"post":{"operationId":"a","requestBody":{"required":true,"content":{"application/json":{"schema":` + schema + `}}},"responses":{}}}`
}
