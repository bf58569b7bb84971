package httpcall_test

import (
	"context"
	"encoding/json"
	"testing"

	"patchbay/internal/openapi"
	"patchbay/internal/openapi/httpcall"
)

// BenchmarkCall makes a request and a result, without the network between them.
func BenchmarkCall(b *testing.B) {
	binding := &openapi.Binding{
		Version: 1, Method: "POST", Server: "https://api.example.com/v1", Path: "/repos/{owner}/{repo}/issues", Accept: "application/json", Result: openapi.ResultObject,
		Parameters: []openapi.Parameter{
			{Argument: "owner", Name: "owner", In: "path", Style: "simple", Required: true}, {Argument: "repo", Name: "repo", In: "path", Style: "simple", Required: true},
			{Argument: "page", Name: "page", In: "query", Style: "form", Explode: true},
		},
		Body: &openapi.Body{Media: "application/json", Required: true, Fields: []openapi.Field{{Argument: "body", Name: "body"}, {Argument: "title", Name: "title"}}},
	}
	args := json.RawMessage(`{"owner":"a","repo":"b","page":2,"title":"A title","body":"A text"}`)
	answer := httpcall.Response{Status: 200, Header: header("Content-Type", "application/json; charset=utf-8"), Body: []byte(`{"id":1,"title":"A title","user":{"login":"x"},"labels":[{"name":"bug"}]}`)}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := httpcall.Build(binding, args); err != nil {
			b.Fatal(err)
		}
		httpcall.NewResult(context.Background(), binding, answer, nil, now)
	}
}
