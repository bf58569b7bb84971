//go:build !race

// The race detector finds nothing in these computations and takes ten times as long.

package httpcall_test

import (
	"encoding/json"
	"errors"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"patchbay/internal/fault"
	"patchbay/internal/openapi"
	"patchbay/internal/openapi/httpcall"
)

// allocatedBytes returns what f allocates. No parallel test runs meanwhile.
func allocatedBytes(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// Names and values of arguments repeat in a request. Each row would make more than a gigabyte of it.
func TestBuild_RepeatedArgumentsAreBounded(t *testing.T) {
	const form = "application/x-www-form-urlencoded"
	long, zeros := strings.Repeat("n", 60<<10), "["+strings.Repeat("0,", 20_000)+"0]"
	named := `{"` + long + `":` + zeros + `}`
	text := `"` + strings.Repeat("x", 200<<10) + `"`
	nested := strings.Repeat(`{"`+strings.Repeat("n", 20<<10)+`":`, 60) + zeros + strings.Repeat("}", 60)
	placeholders := strings.Repeat("{x}", 7000)
	fields := make([]string, 7000)
	for i := range fields {
		fields[i] = `"` + strconv.Itoa(i) + `":"{x}"`
	}
	object := json.RawMessage("{" + strings.Join(fields, ",") + "}")
	parameter := func(in, style, name string, explode bool) *openapi.Binding {
		return &openapi.Binding{Path: "/a", Parameters: []openapi.Parameter{{Argument: "x", Name: name, In: in, Style: style, Explode: explode}}}
	}
	body := func(b openapi.Body) *openapi.Binding { return &openapi.Binding{Path: "/a", Body: &b} }
	field := func(f openapi.Field) []openapi.Field {
		f.Argument, f.Name = "x", "x"
		return []openapi.Field{f}
	}
	content := parameter("query", "", "x", false)
	content.Parameters[0].Media = form
	path := parameter("path", "simple", "x", false)
	path.Path = "/" + placeholders
	matrix := parameter("path", "matrix", long, true)
	matrix.Path = "/{" + long + "}"
	const address, header, large, mebibytes = "too long", "value of a header", "too large", 1 << 20
	for name, tc := range map[string]struct {
		binding *openapi.Binding
		value   string
		says    string
		max     uint64
	}{
		"deepObject":                   {parameter("query", "deepObject", "x", true), named, address, 32 * mebibytes},
		"deepObject of 60 levels":      {parameter("query", "deepObject", "x", true), nested, address, 64 * mebibytes},
		"deepObject without a value":   {parameter("query", "deepObject", "x", true), `{"` + long + `":[` + strings.Repeat("[],", 20_000) + `[]],"b":"` + long + `"}`, address, 32 * mebibytes},
		"query with a name of its own": {parameter("query", "form", long, true), zeros, address, 32 * mebibytes},
		"query as a form":              {content, `{"a":"` + long + `"}`, address, 32 * mebibytes},
		"cookie":                       {parameter("cookie", "form", long, true), zeros, header, 32 * mebibytes},
		"header":                       {parameter("header", "simple", "x", true), zeros, header, 32 * mebibytes},
		"path":                         {path, text, address, 32 * mebibytes},
		"matrix":                       {matrix, zeros, address, 32 * mebibytes},
		"form":                         {body(openapi.Body{Media: form, Fields: field(openapi.Field{Style: "deepObject"})}), named, large, 256 * mebibytes},
		"form of one argument":         {body(openapi.Body{Media: form, Argument: "x"}), named, large, 256 * mebibytes},
		"parts of one argument":        {body(openapi.Body{Media: "multipart/form-data", Argument: "x"}), named, large, 256 * mebibytes},
		"template of JSON":             {body(openapi.Body{Media: "application/json", Fields: field(openapi.Field{}), Template: object}), text, large, 256 * mebibytes},
		"template of JSON, in texts":   {body(openapi.Body{Media: "application/json", Fields: field(openapi.Field{}), Template: json.RawMessage(`{"a":"` + placeholders + `!"}`)}), text, large, 256 * mebibytes},
		"template of text":             {body(openapi.Body{Media: "text/plain", Fields: field(openapi.Field{}), Template: json.RawMessage(`"` + placeholders + `"`)}), text, large, 256 * mebibytes},
		"template of XML":              {body(openapi.Body{Media: "application/xml", Fields: field(openapi.Field{}), Template: json.RawMessage(`"` + placeholders + `"`)}), `"` + strings.Repeat("'", 200<<10) + `"`, large, 256 * mebibytes},
		"template of a form":           {body(openapi.Body{Media: form, Fields: field(openapi.Field{}), Template: object}), text, large, 256 * mebibytes},
		"template of parts":            {body(openapi.Body{Media: "multipart/form-data", Fields: field(openapi.Field{}), Template: object}), text, large, 256 * mebibytes},
	} {
		tc.binding.Version, tc.binding.Method, tc.binding.Server = 1, "POST", "https://h.example"
		var err error
		allocated := allocatedBytes(func() { _, err = httpcall.Build(tc.binding, json.RawMessage(`{"x":`+tc.value+`}`)) })
		if failure, ok := errors.AsType[*fault.Error](err); !ok || !strings.Contains(failure.Message, tc.says) {
			t.Errorf("%s: %v", name, err)
		}
		if allocated > tc.max {
			t.Errorf("%s: %d KiB are allocated", name, allocated>>10)
		}
	}
}

// manyValues returns the JSON of a list.
func manyValues(n int) string { return "[" + strings.Repeat("0,", n-1) + "0]" }

func TestPager_HoldsNoArgumentsWithoutPages(t *testing.T) {
	b := &openapi.Binding{Version: 1, Method: "POST", Server: "https://h.example", Path: "/a", Body: &openapi.Body{Media: "application/json", Argument: "x"}}
	for n, says := range map[int]string{199_998: "", 199_999: "more than 200,000 values"} {
		arguments := json.RawMessage(`{"x":` + manyValues(n) + `}`)
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		p, err := httpcall.NewPager(b, arguments, 1000)
		if (err == nil) != (says == "") || err != nil && !strings.Contains(err.Error(), says) {
			t.Errorf("%d values: %v", n, err)
		}
		if err != nil {
			continue
		}
		if _, err := p.First(); err != nil {
			t.Fatal(err)
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		if held := int64(after.HeapAlloc) - int64(before.HeapAlloc); held > 2<<20 {
			t.Errorf("%d KiB are held while the API answers", held>>10)
		}
		runtime.KeepAlive(p)
		runtime.KeepAlive(arguments)
	}
}

func TestPager_AnswerWithManyValuesIsTheLast(t *testing.T) {
	t.Parallel()
	pages := &openapi.Pages{Kind: openapi.PageNumber, Argument: "page", First: 1, Items: "/items", Max: 5}
	small, large := `{"items":[1]}`, `{"items":[2],"other":`+manyValues(200_000)+`}`
	for name, tc := range map[string]struct {
		answers []httpcall.Response
		asked   int
		body    string
	}{
		"first":  {[]httpcall.Response{page(large)}, 1, large},
		"second": {[]httpcall.Response{page(small), page(large)}, 2, small},
	} {
		asked, p := readPages(t, pages, `{}`, tc.answers...)
		if len(asked) != tc.asked || string(p.Response().Body) != tc.body || p.Response().Note != "There are more pages." {
			t.Errorf("%s: asked for %v, got %d bytes, more: %v", name, asked, len(p.Response().Body), p.Response().Note)
		}
	}
}
