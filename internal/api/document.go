package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"reflect"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"patchbay/internal/fault"
	"patchbay/internal/middleware"
)

// maxBody is the maximum size of a request body, in bytes, without the document of an HTTP API.
const maxBody = 4 << 20

// requestBody is a body with a T. It is read when the handler asks for it, because the existence of the path's
// things is checked first.
type requestBody[T any] struct {
	body  io.Reader
	check bodySchema
}

// bodySchema is an operation's body in the OpenAPI document.
type bodySchema struct {
	registry huma.Registry
	schema   *huma.Schema
	required bool

	hasDocument bool // see operation.hasDocument
}

// maxBody is the maximum size of the body, in bytes.
func (s bodySchema) maxBody() int64 {
	if s.hasDocument {
		return middleware.MaxDocumentBody
	}
	return maxBody
}

// Keys of an operation's metadata.
const (
	bodyKey = "body"
	alsoKey = "also"
)

// Resolve implements huma.Resolver. It stores the request.
func (d *requestBody[T]) Resolve(ctx huma.Context) []error {
	d.body = ctx.BodyReader()
	d.check, _ = ctx.Operation().Metadata[bodyKey].(bodySchema)
	return nil
}

func (d requestBody[T]) goType() reflect.Type { return reflect.TypeFor[T]() }
func (d requestBody[T]) required() bool       { return true }

// readJSON returns the validated body. Its errors have the path and never the value, which can be a secret.
func (d requestBody[T]) readJSON() (T, error) {
	var doc T
	raw, err := readBody(d.body, d.check.maxBody())
	if err != nil {
		return doc, err
	}
	if len(raw) == 0 && !d.check.required {
		return doc, nil
	}
	v, err := parseJSON(raw)
	if err != nil {
		return doc, err
	}
	if len(raw) > maxBody && !isSmallWithoutDocument(v) {
		return doc, tooLargeError(maxBody)
	}
	c := schemaChecker{registry: d.check.registry}
	c.checkValue(d.check.schema, "", v)
	if err := fault.InvalidFields(c.fields...); err != nil {
		return doc, err
	}
	return decodeChecked[T](v)
}

// optionalBody is a body that may be absent.
type optionalBody[T any] struct{ requestBody[T] }

// Resolve implements huma.Resolver.
func (o *optionalBody[T]) Resolve(ctx huma.Context) []error { return o.requestBody.Resolve(ctx) }

func (o optionalBody[T]) required() bool { return false }

func tooLargeError(limit int64) error {
	return fault.Errorf(fault.TooLarge, "The request body is larger than %d MiB.", limit>>20)
}

// isSmallWithoutDocument reports whether a large body is large because of its document alone.
func isSmallWithoutDocument(v any) bool {
	rest, _ := v.(map[string]any)
	if _, ok := rest["document"].(string); !ok {
		return false
	}
	rest = maps.Clone(rest)
	delete(rest, "document")
	var raw bytes.Buffer
	return writeJSON(&raw, rest) == nil && raw.Len() <= maxBody
}

// readBody returns the body, of at most limit bytes, without surrounding space.
func readBody(body io.Reader, limit int64) ([]byte, error) {
	if body == nil {
		return nil, nil
	}
	raw, err := io.ReadAll(io.LimitReader(body, limit+1))
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok || int64(len(raw)) > limit {
		return nil, tooLargeError(limit)
	}
	if err != nil {
		return nil, fault.Wrap(fault.Malformed, err, "The request body ended early.")
	}
	return bytes.TrimSpace(raw), nil
}

// parseJSON parses one JSON value, with numbers as they are spelled.
func parseJSON(raw []byte) (any, error) {
	if len(raw) == 0 {
		return nil, fault.Errorf(fault.Malformed, "The request body is empty; send one JSON document.")
	}
	if !utf8.Valid(raw) {
		return nil, fault.Errorf(fault.Malformed, "The request body is not valid UTF-8.")
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		// The cause is dropped, because it quotes the body.
		return nil, fault.Errorf(fault.Malformed, "The request body is not valid JSON.")
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, fault.Errorf(fault.Malformed, "The request body must be a single JSON document.")
	}
	return v, nil
}

// decodeChecked decodes a validated value into a T. It encodes the value again, because a duplicate key or one
// in another case would bypass the validation.
func decodeChecked[T any](v any) (T, error) {
	var doc T
	var raw bytes.Buffer
	if err := writeJSON(&raw, v); err != nil {
		return doc, fmt.Errorf("encode checked body: %w", err)
	}
	if err := json.Unmarshal(raw.Bytes(), &doc); err != nil {
		return doc, fault.Errorf(fault.Invalid, "The request body does not match its schema.")
	}
	return doc, nil
}
