package httpcall_test

import (
	"encoding/json"
	"strings"
	"testing"

	"patchbay/internal/fault"
	"patchbay/internal/openapi"
	"patchbay/internal/openapi/httpcall"
)

// styleTable is the table of style examples of OpenAPI 3.1.1 and 3.2, Parameter Object, with the defined cells.
var styleTable = []struct {
	in, style                 string
	explode                   bool
	empty, text, list, object string
}{
	{"path", "matrix", false, ";color", ";color=blue", ";color=blue,black,brown", ";color=R,100,G,200,B,150"},
	{"path", "matrix", true, ";color", ";color=blue", ";color=blue;color=black;color=brown", ";R=100;G=200;B=150"},
	{"path", "label", false, ".", ".blue", ".blue,black,brown", ".R,100,G,200,B,150"},
	{"path", "label", true, ".", ".blue", ".blue.black.brown", ".R=100.G=200.B=150"},
	{"path", "simple", false, "", "blue", "blue,black,brown", "R,100,G,200,B,150"},
	{"path", "simple", true, "", "blue", "blue,black,brown", "R=100,G=200,B=150"},
	{"query", "form", false, "color=", "color=blue", "color=blue,black,brown", "color=R,100,G,200,B,150"},
	{"query", "form", true, "color=", "color=blue", "color=blue&color=black&color=brown", "R=100&G=200&B=150"},
	{"query", "spaceDelimited", false, "-", "-", "color=blue%20black%20brown", "color=R%20100%20G%20200%20B%20150"},
	{"query", "pipeDelimited", false, "-", "-", "color=blue%7Cblack%7Cbrown", "color=R%7C100%7CG%7C200%7CB%7C150"},
	{"query", "deepObject", true, "-", "-", "-", "color%5BR%5D=100&color%5BG%5D=200&color%5BB%5D=150"},
	{"header", "simple", false, "", "blue", "blue,black,brown", "R,100,G,200,B,150"},
	{"header", "simple", true, "", "blue", "blue,black,brown", "R=100,G=200,B=150"},
	{"cookie", "form", false, "color=", "color=blue", "color=blue,black,brown", "color=R,100,G,200,B,150"},
	{"cookie", "form", true, "color=", "color=blue", "color=blue&color=black&color=brown", "R=100&G=200&B=150"},
	{"cookie", "cookie", true, "color=", "color=blue", "color=blue; color=black; color=brown", "R=100; G=200; B=150"},
}

func TestStyles_AsInTheSpecification(t *testing.T) {
	t.Parallel()
	for _, row := range styleTable {
		values := map[string]string{`""`: row.empty, `"blue"`: row.text, `["blue","black","brown"]`: row.list, `{"R":100,"G":200,"B":150}`: row.object}
		for value, want := range values {
			if want == "-" || row.in == "path" && value == `""` {
				continue
			}
			p := openapi.Parameter{Argument: "c", Name: "color", In: row.in, Style: row.style, Explode: row.explode}
			have, err := buildOne(p, value)
			if err != nil || have != want {
				t.Errorf("%s %s explode %v of %s: %q, want %q (%v)", row.in, row.style, row.explode, value, have, want, err)
			}
		}
	}
}

// buildOne returns what one parameter adds to a request.
func buildOne(p openapi.Parameter, value string) (string, error) {
	path := "/a"
	if p.In == "path" {
		path = "/a/{" + p.Name + "}"
	}
	b := &openapi.Binding{Version: 1, Method: "GET", Server: "https://api.example.com/v1", Path: path, Parameters: []openapi.Parameter{p}}
	r, err := httpcall.Build(b, json.RawMessage(`{"`+p.Argument+`":`+value+`}`))
	if err != nil {
		return "", err
	}
	switch p.In {
	case "path":
		return strings.TrimPrefix(r.URL, "https://api.example.com/v1/a/"), nil
	case "header":
		return r.Header.Get(p.Name), nil
	case "cookie":
		return r.Header.Get("Cookie"), nil
	}
	_, query, _ := strings.Cut(r.URL, "?")
	return query, nil
}

func TestParameters_Escapes(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		p           openapi.Parameter
		value, want string
	}{
		{openapi.Parameter{In: "query", Style: "form"}, `"a b&c=d#e+ü%"`, "c=a%20b%26c%3Dd%23e%2B%C3%BC%25"},
		{openapi.Parameter{In: "query", Style: "form", Reserved: true}, `"a/b?c&d=e#f%2Fg%"`, "c=a/b?c%26d=e%23f%2Fg%25"},
		{openapi.Parameter{In: "query", Style: "form"}, `["a,b","c"]`, "c=a%2Cb,c"},
		{openapi.Parameter{In: "query", Style: "form", Explode: true}, `{"a&b":"c"}`, "a%26b=c"},
		{openapi.Parameter{In: "query", Style: "deepObject", Explode: true}, `{"a":{"b":[1,2]},"c":[{"d":true}]}`, "c%5Ba%5D%5Bb%5D%5B%5D=1&c%5Ba%5D%5Bb%5D%5B%5D=2&c%5Bc%5D%5B0%5D%5Bd%5D=true"},
		{openapi.Parameter{In: "query", Media: "application/json"}, `{"a": [1]}`, "c=%7B%22a%22%3A%5B1%5D%7D"},
		{openapi.Parameter{In: "query", Style: "form"}, `1.50`, "c=1.50"},
		{openapi.Parameter{In: "query", Style: "form"}, `null`, ""},
		{openapi.Parameter{In: "query", Style: "tabDelimited"}, `["a","b"]`, "c=a%09b"},
		{openapi.Parameter{In: "querystring", Media: "application/x-www-form-urlencoded"}, `{"a":"b c","d":1}`, "a=b%20c&d=1"},
		{openapi.Parameter{In: "querystring", Media: "application/json"}, `{"a":1}`, "%7B%22a%22%3A1%7D"},
		{openapi.Parameter{In: "path", Style: "simple"}, `"a/b?c#d;e"`, "a%2Fb%3Fc%23d%3Be"},
		{openapi.Parameter{In: "path", Style: "simple", Reserved: true}, `"a/b?c"`, "a/b%3Fc"},
		{openapi.Parameter{In: "header", Style: "simple"}, `"a, b"`, "a, b"},
		{openapi.Parameter{In: "cookie", Style: "form"}, `"a;b=c"`, "c=a%3Bb%3Dc"},
		{openapi.Parameter{In: "cookie", Style: "cookie"}, `"a;b c"`, "c=a%3Bb%20c"},
	} {
		tc.p.Argument, tc.p.Name = "c", "c"
		if tc.p.In == "header" && strings.HasPrefix(tc.value, `"`) {
			tc.value = `"a b"`
			tc.want = "a b"
		}
		if have, err := buildOne(tc.p, tc.value); err != nil || have != tc.want {
			t.Errorf("%+v of %s: %q, want %q (%v)", tc.p, tc.value, have, tc.want, err)
		}
	}
}

func TestArguments_CannotLeaveTheirPlace(t *testing.T) {
	t.Parallel()
	path := openapi.Parameter{Argument: "c", Name: "c", In: "path", Style: "simple", Required: true}
	for _, value := range []string{
		`".."`, `"."`, `"a/../b"`, `"..%2f"`, `"%2e%2e"`, `"%252e%252e/x"`, `"..\\x"`, `"a/./b"`, `"..;x/a"`, `""`, `null`, `[".."]`, `{"..":"a"}`, `["a","b/.."]`,
	} {
		if have, err := buildOne(path, value); err == nil {
			t.Errorf("%s leads to %q", value, have)
		}
	}
	for _, value := range []string{`"a..b"`, `"...x"`, `"a/b"`, `"1.2"`} {
		if _, err := buildOne(path, value); err != nil {
			t.Errorf("%s: %v", value, err)
		}
	}
	for _, value := range []string{`"a\r\nX-B: c"`, `"a\nb"`, `"a\u0000"`, `["a","b\r\nc"]`, `{"a\r\nb":"c"}`, `"a` + strings.Repeat(`\r\n`, 1000) + `b"`} {
		have, err := buildOne(openapi.Parameter{Argument: "c", Name: "X-C", In: "header", Style: "simple"}, value)
		if f := fault.As(err); err == nil || f.Kind != fault.Invalid || f.Message != `The argument "c" cannot be the value of a header.` {
			t.Errorf("%.60s in a header: %q, %v", value, have, err)
		}
		have, err = buildOne(openapi.Parameter{Argument: "c", Name: "X-C", In: "cookie", Style: "form"}, value)
		if err != nil || strings.ContainsAny(have, "\r\n\x00") || len(have) > 3*len(value) {
			t.Errorf("%.60s in a cookie: %.200q, %v", value, have, err)
		}
	}
	for _, name := range []string{"Host", "Content-Length", "Transfer-Encoding", "Authorization", "X A", "X\r\nB"} {
		if have, err := buildOne(openapi.Parameter{Argument: "c", Name: name, In: "header", Style: "simple"}, `"a"`); err == nil {
			t.Errorf("%q is set: %q", name, have)
		}
	}
	for _, row := range []openapi.Parameter{{In: "query", Style: "spaceDelimited"}, {In: "query", Style: "pipeDelimited"}, {In: "header", Style: "simple"}} {
		row.Argument, row.Name = "c", "X-C"
		if have, err := buildOne(row, `["a b|c,d","e"]`); err == nil {
			t.Errorf("%+v: %q", row, have)
		}
	}
}

func TestArguments_UnknownAndMissingAreRefused(t *testing.T) {
	t.Parallel()
	b := &openapi.Binding{
		Method: "POST", Server: "https://h.example", Path: "/a", Parameters: []openapi.Parameter{{Argument: "q", Name: "q", In: "query", Style: "form", Required: true}},
		Body: &openapi.Body{Media: "application/json", Argument: "body", Required: true},
	}
	for text, ok := range map[string]bool{
		`{"q":1,"body":{}}`: true, `{"q":1,"body":null}`: true, `{"q":1}`: false, `{"body":{}}`: false, `{"q":null,"body":{}}`: false, `{"q":1,"body":{},"x":1}`: false,
		`[]`: false, `{`: false, ``: false, `{"q":1,"body":{},"":1}`: false,
	} {
		if _, err := httpcall.Build(b, json.RawMessage(text)); (err == nil) != ok {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// FuzzParameters builds requests of every style. Scheme, host, path and headers stay those of the template.
func FuzzParameters(f *testing.F) {
	f.Add("path", "simple", true, false, "a/../b")
	f.Add("path", "label", false, true, "..")
	f.Add("query", "deepObject", true, false, `{"a":{"b":[1]}}`)
	f.Add("query", "form", true, true, "a&b=c#d%2")
	f.Add("header", "simple", false, false, "a\r\nb: c")
	f.Add("cookie", "cookie", true, false, "a;b")
	f.Fuzz(func(t *testing.T, in, style string, explode, reserved bool, text string) {
		quoted, err := json.Marshal(text)
		if err != nil {
			return
		}
		for _, value := range []string{string(quoted), "[" + string(quoted) + ",1]", `{"k":` + string(quoted) + `,` + string(quoted) + `:"v"}`} {
			path := "/v1/{p}/end"
			b := &openapi.Binding{Method: "GET", Server: "https://h.example/base", Path: path, Parameters: []openapi.Parameter{
				{Argument: "p", Name: "p", In: "path", Style: style, Explode: explode, Reserved: reserved, Required: true},
				{Argument: "x", Name: "X-X", In: in, Style: style, Explode: explode, Reserved: reserved},
			}}
			r, err := httpcall.Build(b, json.RawMessage(`{"p":`+value+`,"x":`+value+`}`))
			if err == nil {
				checkPlaces(t, r, reserved)
			}
		}
	})
}
