package httpcall

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"time"

	"patchbay/internal/jsonschema"
	"patchbay/internal/openapi"
)

// maxErrorBody bounds what a result says of an error's body, in bytes.
const maxErrorBody = 4 << 10

// Response is the answer of an API.
type Response struct {
	Status    int
	Header    http.Header
	Body      []byte
	Truncated bool              // the body is longer than the caller's bound
	URL       string            // of the request, without its credential
	CheckJSON func([]byte) bool // nil: [json.Valid]
	Note      string            // a sentence for the model beside the answer; empty: none
	Space     []byte            // the JSON of the result is appended to it
}

// Result is the result of a call.
type Result struct {
	JSON       json.RawMessage // CallToolResult of MCP
	IsError    bool
	Status     int
	RetryAfter time.Duration // that the API asks for; 0: it asks for none
}

// callResult is CallToolResult.
type callResult struct {
	Content    []contentBlock
	Structured json.RawMessage // valid JSON; nil: none
	IsError    bool
}

// NewResult makes the result of a call. filter may be nil; now is for dates in Retry-After.
func NewResult(ctx context.Context, b *openapi.Binding, r Response, filter *Filter, now time.Time) Result {
	out := Result{Status: r.Status, RetryAfter: ReadRetryAfter(r.Status, r.Header, now)}
	var result callResult
	switch {
	case r.Status < 200 || r.Status > 299:
		result = errorResult(describeError(r, out.RetryAfter))
	case r.Truncated:
		result = errorResult("The response is too large.")
	default:
		result = successResult(ctx, b, r, filter)
		if r.Note != "" {
			result.Content = append(result.Content, textBlock(r.Note))
		}
	}
	out.IsError = result.IsError
	out.JSON = encodeResult(r.Space, result)
	return out
}

// encodeResult appends a result. Structured content stays as the API wrote it.
func encodeResult(out []byte, result callResult) json.RawMessage {
	out = append(slices.Grow(out, result.estimateSize()), `{"content":[`...)
	for i, block := range result.Content {
		if i > 0 {
			out = append(out, ',')
		}
		out = block.appendJSON(out)
	}
	out = append(out, ']')
	if result.Structured != nil {
		out = append(append(out, `,"structuredContent":`...), result.Structured...)
	}
	if result.IsError {
		out = append(out, `,"isError":true`...)
	}
	return append(out, '}')
}

// estimateSize returns a size that a result rarely exceeds, in bytes.
func (r callResult) estimateSize() int {
	n := 128 + len(r.Structured)
	for _, block := range r.Content {
		n += block.jsonSize() + block.jsonSize()/8
	}
	return n
}

func errorResult(sentence string) callResult {
	return callResult{Content: []contentBlock{textBlock(sentence)}, IsError: true}
}

// describeError says status, wait and body of an error. A redirect is one: its target is another host's business.
func describeError(r Response, wait time.Duration) string {
	text := "HTTP " + strconv.Itoa(r.Status)
	if name := http.StatusText(r.Status); name != "" {
		text += " " + name
	}
	if wait > 0 {
		text += ". Retry after " + strconv.Itoa(int((wait+time.Second-1)/time.Second)) + " seconds"
	}
	media := readMedia(r.Header.Get("Content-Type"))
	if len(r.Body) == 0 || !isReadable(media, r.Body) {
		return text + "."
	}
	return text + ".\n\n" + cutText(string(readText(r.Body, r.Header.Get("Content-Type"))), maxErrorBody)
}

func (r Response) isJSON(body []byte) bool {
	if r.CheckJSON != nil {
		return r.CheckJSON(body)
	}
	return json.Valid(body)
}

func successResult(ctx context.Context, b *openapi.Binding, r Response, filter *Filter) callResult {
	media := readMedia(r.Header.Get("Content-Type"))
	body := bytes.TrimPrefix(r.Body, []byte("\xef\xbb\xbf"))
	isJSON := (openapi.IsJSON(media) || media == "" || b.Result != openapi.ResultText && isReadable(media, body)) && r.isJSON(body)
	switch {
	case isJSON:
		return jsonResult(ctx, b, body, filter)
	case len(bytes.TrimSpace(body)) == 0:
		return addStructured(b, callResult{Content: []contentBlock{textBlock("HTTP " + strconv.Itoa(r.Status) + " " + http.StatusText(r.Status))}}, nil)
	case isReadable(media, body):
		text := readText(body, r.Header.Get("Content-Type"))
		result := callResult{Content: []contentBlock{textBlock(text)}}
		if b.Result == openapi.ResultText {
			return result
		}
		return addStructured(b, result, jsonschema.AppendQuotedBytes(nil, text))
	}
	return addStructured(b, callResult{Content: []contentBlock{binaryBlock(r, media)}}, nil)
}

// jsonResult returns JSON as text and as structured content.
func jsonResult(ctx context.Context, b *openapi.Binding, body []byte, filter *Filter) callResult {
	if filter != nil {
		filtered, err := filter.Apply(ctx, body)
		if err != nil {
			return errorResult("The response filter failed. " + err.Error())
		}
		return callResult{Content: []contentBlock{textBlock(filtered)}}
	}
	body = bytes.TrimSpace(body)
	body = validText(body)
	return addStructured(b, callResult{Content: []contentBlock{textBlock(body)}}, body)
}

// addStructured adds structured content to a result: a tool with an output schema always has it, and it is always an object.
func addStructured(b *openapi.Binding, result callResult, body []byte) callResult {
	switch {
	case b.Result == openapi.ResultText:
	case body == nil || string(body) == "null" && b.Result == openapi.ResultObject:
		result.Structured = json.RawMessage("{}")
	case b.Result == openapi.ResultObject && body[0] == '{':
		result.Structured = body
	default:
		result.Structured = append(append([]byte(`{"result":`), body...), '}')
	}
	return result
}
