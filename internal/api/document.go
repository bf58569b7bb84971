package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"patchbay/internal/fault"
)

// maxBody is the largest request body, in bytes.
const maxBody = 4 << 20

// document is a request body that holds one T. It is read when the handler asks for it, not before: whether the thing
// that the request names exists comes first.
type document[T any] struct {
	body  io.Reader
	check bodySchema
}

// bodySchema is what the OpenAPI document says of an operation's body.
type bodySchema struct {
	registry huma.Registry
	schema   *huma.Schema
	required bool
}

// Where an operation's metadata hold its bodySchema, and its further statuses of success.
const (
	bodyKey = "body"
	alsoKey = "also"
)

// Resolve implements huma.Resolver: it remembers the request.
func (d *document[T]) Resolve(ctx huma.Context) []error {
	d.body = ctx.BodyReader()
	d.check, _ = ctx.Operation().Metadata[bodyKey].(bodySchema)
	return nil
}

func (d document[T]) goType() reflect.Type { return reflect.TypeFor[T]() }
func (d document[T]) required() bool       { return true }

// read returns the document. Its errors say where it is wrong and never what stands there: it can be a secret.
func (d document[T]) read() (T, error) {
	var doc T
	raw, err := readBody(d.body)
	if err != nil {
		return doc, err
	}
	if len(raw) == 0 && !d.check.required {
		return doc, nil
	}
	v, err := parse(raw)
	if err != nil {
		return doc, err
	}
	c := checker{registry: d.check.registry}
	c.value(d.check.schema, "", v)
	if err := fault.InvalidFields(c.fields...); err != nil {
		return doc, err
	}
	return decode[T](v)
}

// optional is a document that may be absent.
type optional[T any] struct{ document[T] }

// Resolve implements huma.Resolver.
func (o *optional[T]) Resolve(ctx huma.Context) []error { return o.document.Resolve(ctx) }

func (o optional[T]) required() bool { return false }

// readBody returns the body without the white space around it.
func readBody(body io.Reader) ([]byte, error) {
	if body == nil {
		return nil, nil
	}
	raw, err := io.ReadAll(io.LimitReader(body, maxBody+1))
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok || len(raw) > maxBody {
		return nil, fault.Errorf(fault.TooLarge, "The request body is larger than 4 MiB.")
	}
	if err != nil {
		return nil, fault.Wrap(fault.Malformed, err, "The request body ended early.")
	}
	return bytes.TrimSpace(raw), nil
}

// parse reads one JSON value, numbers as they are spelled.
func parse(raw []byte) (any, error) {
	if len(raw) == 0 {
		return nil, fault.Errorf(fault.Malformed, "The request body is empty; it must be one JSON document.")
	}
	if !utf8.Valid(raw) {
		return nil, fault.Errorf(fault.Malformed, "The request body is not UTF-8.")
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		// The cause is left out: it quotes the body.
		return nil, fault.Errorf(fault.Malformed, "The request body is not valid JSON.")
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, fault.Errorf(fault.Malformed, "The request body must be one JSON document; something follows the first.")
	}
	return v, nil
}

// decode turns a checked value into a T. It goes over JSON once more so that what was checked is what is used: a key
// given twice, or in other case, would reach the Go type by ways that the check did not see.
func decode[T any](v any) (T, error) {
	var doc T
	var raw bytes.Buffer
	if err := writeJSON(&raw, v); err != nil {
		return doc, fmt.Errorf("encode checked body: %w", err)
	}
	if err := json.Unmarshal(raw.Bytes(), &doc); err != nil {
		return doc, fault.Errorf(fault.Invalid, "The request body does not fit its schema.")
	}
	return doc, nil
}
