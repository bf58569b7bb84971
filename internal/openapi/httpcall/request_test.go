package httpcall_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"mime"
	"mime/multipart"
	"net/url"
	"strings"
	"testing"

	"golang.org/x/net/http/httpguts"

	"patchbay/internal/openapi"
	"patchbay/internal/openapi/httpcall"
)

// checkPlaces checks that a request of FuzzParameters leads where its template does.
func checkPlaces(t *testing.T, r *httpcall.Request, reserved bool) {
	t.Helper()
	u, err := url.Parse(r.URL)
	if err != nil || u.Scheme != "https" || u.Host != "h.example" || u.Fragment != "" || u.User != nil {
		t.Fatalf("%q: %v", r.URL, err)
	}
	segments := strings.Split(u.EscapedPath(), "/")
	if !strings.HasPrefix(u.EscapedPath(), "/base/v1/") || segments[len(segments)-1] != "end" || !reserved && len(segments) != 5 {
		t.Errorf("the path is %q", u.EscapedPath())
	}
	if resolved := u.ResolveReference(&url.URL{}); resolved.EscapedPath() != u.EscapedPath() {
		t.Errorf("%q is %q", u.EscapedPath(), resolved.EscapedPath())
	}
	for name, values := range r.Header {
		for _, value := range values {
			if !httpguts.ValidHeaderFieldValue(value) || name != "X-X" && name != "Cookie" {
				t.Errorf("%s: %q", name, value)
			}
		}
	}
	if _, err := r.HTTP(context.Background()); err != nil {
		t.Error(err)
	}
}

func buildBody(t *testing.T, body *openapi.Body, args string) (*httpcall.Request, error) {
	t.Helper()
	return httpcall.Build(&openapi.Binding{Version: 1, Method: "POST", Server: "https://h.example", Path: "/a", Body: body}, json.RawMessage(args))
}

func TestBodies_OfEachKind(t *testing.T) {
	t.Parallel()
	fields := func(names ...string) (all []openapi.Field) {
		for _, name := range names {
			all = append(all, openapi.Field{Argument: name, Name: name})
		}
		return all
	}
	form := "application/x-www-form-urlencoded"
	for name, tc := range map[string]struct {
		body              *openapi.Body
		args, media, want string
	}{
		"JSON":                 {&openapi.Body{Media: "application/json", Fields: fields("b", "a")}, `{"a": [1.50], "b":null}`, "application/json", `{"a":[1.50],"b":null}`},
		"no JSON":              {&openapi.Body{Media: "application/json", Fields: fields("a")}, `{}`, "", ``},
		"empty JSON":           {&openapi.Body{Media: "application/json", Fields: fields("a"), Required: true}, `{}`, "application/json", `{}`},
		"renamed":              {&openapi.Body{Media: "application/json", Fields: []openapi.Field{{Argument: "body_id", Name: "id\""}}}, `{"body_id":1}`, "application/json", `{"id\"":1}`},
		"JSON of one argument": {&openapi.Body{Media: "application/merge-patch+json", Argument: "body"}, `{"body":[{"a":1}]}`, "application/merge-patch+json", `[{"a":1}]`},
		"text":                 {&openapi.Body{Media: "text/plain", Argument: "body"}, `{"body":"a\nb"}`, "text/plain; charset=utf-8", "a\nb"},
		"XML":                  {&openapi.Body{Media: "application/xml", Argument: "body"}, `{"body":"<a/>"}`, "application/xml", "<a/>"},
		"file":                 {&openapi.Body{Media: "application/octet-stream", Argument: "body", File: true}, `{"body":{"data":"AP8="}}`, "application/octet-stream", "\x00\xff"},
		"file of a range":      {&openapi.Body{Media: "image/*", Argument: "body", File: true}, `{"body":{"data":"AP8","media_type":"image/png"}}`, "image/png", "\x00\xff"},
		"form":                 {&openapi.Body{Media: form, Fields: fields("a", "b", "c", "d")}, `{"a":"x y&","b":[1,2],"c":{"k":"v"},"d":null}`, form, "a=x%20y%26&b=1&b=2&c=%7B%22k%22%3A%22v%22%7D"},
		"form of one argument": {&openapi.Body{Media: form, Argument: "body"}, `{"body":{"a":"1"}}`, form, "a=1"},
		"form with styles":     {&openapi.Body{Media: form, Fields: []openapi.Field{{Argument: "a", Name: "a", Style: "deepObject", Explode: true}, {Argument: "b", Name: "b", Style: "form"}}}, `{"a":{"k":1},"b":[1,2]}`, form, "a%5Bk%5D=1&b=1,2"},
		"template":             {&openapi.Body{Media: "application/json", Fields: fields("a", "b"), Template: json.RawMessage(`{"x":"{a}","y":"n {a} {b}","z":["{b}",1],"w":"{c}"}`)}, `{"a":{"k":"{b}"}}`, "application/json", `{"x":{"k":"{b}"},"y":"n {\"k\":\"{b}\"} ","z":[1],"w":"{c}"}`},
		"template of text":     {&openapi.Body{Media: "text/plain", Fields: fields("a"), Template: json.RawMessage(`"{a} {b} {"`)}, `{"a":"<{b}>"}`, "text/plain", "<{b}> {b} {"},
		"template of XML":      {&openapi.Body{Media: "application/xml", Fields: fields("a"), Template: json.RawMessage(`"<r>{a}</r>"`)}, `{"a":"<x>&"}`, "application/xml", "<r>&lt;x&gt;&amp;</r>"},
		"template of a form":   {&openapi.Body{Media: form, Fields: fields("a", "b"), Template: json.RawMessage(`{"x":"{a}","f":"1","y":"{b}"}`)}, `{"a":"p&q=r"}`, form, "x=p%26q%3Dr&f=1"},
	} {
		r, err := buildBody(t, tc.body, tc.args)
		if err != nil || string(r.Body) != tc.want || r.Header.Get("Content-Type") != tc.media {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
	for name, body := range map[string]string{"no Base64": `{"data":"!"}`, "no data": `{}`, "other range": `{"data":"","media_type":"text/html"}`, "end of a header": `{"data":"","media_type":"image/png\r\nX: y"}`} {
		if r, err := buildBody(t, &openapi.Body{Media: "image/*", Argument: "body", File: true}, `{"body":`+body+`}`); err == nil {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

func TestMultipart_PartsAndFiles(t *testing.T) {
	t.Parallel()
	body := &openapi.Body{Media: "multipart/form-data", Fields: []openapi.Field{
		{Argument: "f", Name: "f", File: true}, {Argument: "n", Name: "n\"\r\n"}, {Argument: "o", Name: "o"}, {Argument: "l", Name: "l", File: true}, {Argument: "x", Name: "x", Media: "application/xml"},
	}}
	args := `{"f":{"data":"AP8=","name":"../a\"b\r\nX: y.png","media_type":"image/png"},"n":1.50,"o":{"a":[1]},"l":[{"data":"YQ=="},{"data":"Yg=="}],"x":"<a/>"}`
	r, err := buildBody(t, body, args)
	if err != nil {
		t.Fatal(err)
	}
	again, err := buildBody(t, body, args)
	if err != nil || !bytes.Equal(r.Body, again.Body) {
		t.Error("the same arguments have other bytes", err)
	}
	_, parameters, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil {
		t.Fatal(err)
	}
	reader := multipart.NewReader(bytes.NewReader(r.Body), parameters["boundary"])
	var have []string
	for {
		part, err := reader.NextRawPart()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(part)
		if err != nil || len(part.Header) > 2 {
			t.Errorf("%v, %v", part.Header, err)
		}
		have = append(have, part.FormName()+"|"+part.FileName()+"|"+part.Header.Get("Content-Type")+"|"+string(data))
	}
	want := []string{"f|a%22b%0D%0AX: y.png|image/png|\x00\xff", "n%22%0D%0A|||1.50", `o||application/json|{"a":[1]}`, "l|file|application/octet-stream|a", "l|file|application/octet-stream|b", "x||application/xml|<a/>"}
	if strings.Join(have, "\n") != strings.Join(want, "\n") {
		t.Errorf("%q", have)
	}
}

// An idempotent request is sent again, and a client may change the header that it sends.
func TestHTTP_HasItsOwnHeaderIfSentAgain(t *testing.T) {
	t.Parallel()
	binding := &openapi.Binding{Version: 1, Method: "GET", Server: "https://h.example", Path: "/a", Accept: "application/json"}
	r, err := httpcall.Build(binding, nil)
	if err != nil {
		t.Fatal(err)
	}
	first, err := r.HTTP(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	first.Header.Set("Authorization", "Bearer first")
	second, err := r.HTTP(t.Context())
	if err != nil || second.Header.Get("Authorization") != "" || second.Header.Get("Accept") != "application/json" {
		t.Errorf("%v, %v", second.Header, err)
	}
}

func TestBuild_RefusesDotSegmentsOfThePath(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/a/../b", "/a/%2e%2E/b", "/%2e/b"} {
		if r, err := httpcall.Build(&openapi.Binding{Version: 1, Method: "GET", Server: "https://h.example", Path: path}, nil); err == nil {
			t.Errorf("%s leads to %s", path, r.URL)
		}
	}
}
