package httpcall_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"patchbay/internal/openapi"
	"patchbay/internal/openapi/httpcall"
)

var now = time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)

func header(pairs ...string) http.Header {
	h := http.Header{}
	for i := 0; i+1 < len(pairs); i += 2 {
		h.Add(pairs[i], pairs[i+1])
	}
	return h
}

func TestResults_OfEachKind(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		form   openapi.ResultForm
		status int
		media  string
		body   string
		want   string
	}{
		"object":                {openapi.ResultObject, 200, "application/json", `{"a": "<1>"}`, `{"content":[{"type":"text","text":"{\"a\": \"<1>\"}"}],"structuredContent":{"a": "<1>"}}`},
		"list":                  {openapi.ResultWrapped, 200, "application/json; charset=utf-8", `[1]`, `{"content":[{"type":"text","text":"[1]"}],"structuredContent":{"result":[1]}}`},
		"other than said":       {openapi.ResultObject, 200, "application/json", `[1]`, `{"content":[{"type":"text","text":"[1]"}],"structuredContent":{"result":[1]}}`},
		"no content":            {openapi.ResultObject, 204, "", ``, `{"content":[{"type":"text","text":"HTTP 204 No Content"}],"structuredContent":{}}`},
		"no schema":             {openapi.ResultText, 200, "application/json", `{"a":1}`, `{"content":[{"type":"text","text":"{\"a\":1}"}]}`},
		"text":                  {openapi.ResultText, 200, "text/plain; charset=iso-8859-1", "\xfc", `{"content":[{"type":"text","text":"ü"}]}`},
		"text of a wrapped one": {openapi.ResultWrapped, 200, "text/plain", "a", `{"content":[{"type":"text","text":"a"}],"structuredContent":{"result":"a"}}`},
		"broken JSON":           {openapi.ResultText, 200, "application/json", `{"a":`, `{"content":[{"type":"text","text":"{\"a\":"}]}`},
		"binary":                {openapi.ResultText, 200, "image/png", "\x00\xff", `{"content":[{"type":"resource","resource":{"uri":"https://h.example/a#x.png","mimeType":"image/png","blob":"AP8="}}]}`},
		"error":                 {openapi.ResultObject, 404, "application/json", `{"message":"no"}`, `{"content":[{"type":"text","text":"HTTP 404 Not Found.\n\n{\"message\":\"no\"}"}],"isError":true}`},
		"binary error":          {openapi.ResultText, 500, "image/png", "\x00", `{"content":[{"type":"text","text":"HTTP 500 Internal Server Error."}],"isError":true}`},
		"redirect":              {openapi.ResultText, 302, "", ``, `{"content":[{"type":"text","text":"HTTP 302 Found."}],"isError":true}`},
	} {
		r := httpcall.Response{Status: tc.status, Header: header("Content-Type", tc.media, "Content-Disposition", `attachment; filename="../x.png"`), Body: []byte(tc.body), URL: "https://h.example/a"}
		have := httpcall.NewResult(context.Background(), &openapi.Binding{Result: tc.form}, r, nil, now)
		if string(have.JSON) != tc.want || !json.Valid(have.JSON) {
			t.Errorf("%s: %s", name, have.JSON)
		}
	}
}

func TestResults_AreBounded(t *testing.T) {
	t.Parallel()
	long := httpcall.Response{Status: 400, Header: header("Content-Type", "text/html"), Body: []byte(strings.Repeat("ü", 100_000))}
	if have := httpcall.NewResult(context.Background(), &openapi.Binding{}, long, nil, now); len(have.JSON) > 5000 {
		t.Errorf("an error has %d bytes", len(have.JSON))
	}
	cut := httpcall.Response{Status: 200, Body: []byte(`{`), Truncated: true}
	if have := httpcall.NewResult(context.Background(), &openapi.Binding{Result: openapi.ResultObject}, cut, nil, now); !have.IsError {
		t.Errorf("%s", have.JSON)
	}
}

func TestRetryAfter_Forms(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		status int
		header http.Header
		want   time.Duration
	}{
		{429, header("Retry-After", "30"), 30 * time.Second},
		{503, header("Retry-After", "Sat, 31 Jan 2026 12:01:00 GMT"), time.Minute},
		{429, header("Retry-After", "99999999"), time.Hour},
		{429, header("Retry-After", "-1"), 0},
		{429, header("Retry-After", "soon"), 0},
		{403, header("X-RateLimit-Remaining", "0", "X-RateLimit-Reset", "1769861000"), 1769861000*time.Second - time.Duration(now.Unix())*time.Second},
		{403, header("X-RateLimit-Remaining", "5", "X-RateLimit-Reset", "1769861000"), 0},
		{429, header("RateLimit-Remaining", "0", "RateLimit-Reset", "7"), 7 * time.Second},
		{200, header("Retry-After", "30"), 0},
	} {
		have := httpcall.NewResult(context.Background(), &openapi.Binding{}, httpcall.Response{Status: tc.status, Header: tc.header}, nil, now)
		if have.RetryAfter != min(max(tc.want, 0), time.Hour) {
			t.Errorf("%d %v: %v, want %v", tc.status, tc.header, have.RetryAfter, tc.want)
		}
	}
}

// readPages calls with answers, and returns the addresses that were asked for.
func readPages(t *testing.T, pages *openapi.Pages, args string, answers ...httpcall.Response) (asked []string, p *httpcall.Pager) {
	t.Helper()
	b := &openapi.Binding{Method: "GET", Server: "https://h.example/v1", Path: "/a", Pages: pages}
	for _, name := range []string{"page", "cursor", "offset"} {
		b.Parameters = append(b.Parameters, openapi.Parameter{Argument: name, Name: name, In: "query", Style: "form", Explode: true})
	}
	p, err := httpcall.NewPager(b, json.RawMessage(args), 1000)
	if err != nil {
		t.Fatal(err)
	}
	for r, err := p.First(); r != nil; {
		if err != nil {
			t.Fatal(err)
		}
		asked = append(asked, strings.TrimPrefix(r.URL, "https://h.example"))
		if len(asked) > len(answers) {
			return asked, p
		}
		r, err = p.Add(answers[len(asked)-1])
	}
	return asked, p
}

func page(body string, pairs ...string) httpcall.Response {
	return httpcall.Response{Status: 200, Header: header(pairs...), Body: []byte(body)}
}

func TestPages_OfEachKind(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		pages   openapi.Pages
		answers []httpcall.Response
		asked   string
		body    string
		more    bool
	}{
		"link": {openapi.Pages{Kind: openapi.PageLink, Max: 5}, []httpcall.Response{
			page(`[1,2]`, "Link", `<https://h.example/v1/a?p=1>; rel="prev", <https://h.example/v1/a?p=2>; rel="next"`), page(`[3]`)}, "/v1/a /v1/a?p=2", `[1,2,3]`, false},
		"relative link": {openapi.Pages{Kind: openapi.PageLink, Max: 5}, []httpcall.Response{page(`[1]`, "Link", `</v1/a?p=2>; rel=next`), page(`[2]`)}, "/v1/a /v1/a?p=2", `[1,2]`, false},
		"other origin":  {openapi.Pages{Kind: openapi.PageLink, Max: 5}, []httpcall.Response{page(`[1]`, "Link", `<https://evil.example/v1/a>; rel="next"`)}, "/v1/a", `[1]`, false},
		"other scheme":  {openapi.Pages{Kind: openapi.PageLink, Max: 5}, []httpcall.Response{page(`[1]`, "Link", `<http://h.example/v1/a>; rel="next"`)}, "/v1/a", `[1]`, false},
		"other path":    {openapi.Pages{Kind: openapi.PageLink, Max: 5}, []httpcall.Response{page(`[1]`, "Link", `</v1/../admin>; rel="next"`)}, "/v1/a", `[1]`, false},
		"same again":    {openapi.Pages{Kind: openapi.PageLink, Max: 5}, []httpcall.Response{page(`[1]`, "Link", `</v1/a?p=2>; rel=next`), page(`[2]`, "Link", `</v1/a?p=2>; rel=next`)}, "/v1/a /v1/a?p=2", `[1,2]`, false},
		"address in the answer": {openapi.Pages{Kind: openapi.PageLink, Next: "/next", Items: "/items", Max: 5}, []httpcall.Response{
			page(`{"items":[1],"next":"https://h.example/v1/a?p=2"}`), page(`{"items":[2],"next":null}`)}, "/v1/a /v1/a?p=2", `{"items":[1,2],"next":"https://h.example/v1/a?p=2"}`, false},
		"cursor": {openapi.Pages{Kind: openapi.PageCursor, Argument: "cursor", Next: "/meta/next", Items: "/data", Max: 5}, []httpcall.Response{
			page(`{"data":[1],"meta":{"next":"x y"}}`), page(`{"data":[2],"meta":{"next":""}}`)}, "/v1/a /v1/a?cursor=x%20y", `{"data":[1,2],"meta":{"next":"x y"}}`, false},
		"page":   {openapi.Pages{Kind: openapi.PageNumber, Argument: "page", First: 1, Max: 5}, []httpcall.Response{page(`[1]`), page(`[2]`), page(`[]`)}, "/v1/a /v1/a?page=2 /v1/a?page=3", `[1,2]`, false},
		"offset": {openapi.Pages{Kind: openapi.PageOffset, Argument: "offset", Max: 5}, []httpcall.Response{page(`[1,2]`), page(`[]`)}, "/v1/a /v1/a?offset=2", `[1,2]`, false},
		"bound":  {openapi.Pages{Kind: openapi.PageNumber, Argument: "page", First: 1, Max: 2}, []httpcall.Response{page(`[1]`), page(`[2]`)}, "/v1/a /v1/a?page=2", `[1,2]`, true},
		"bytes":  {openapi.Pages{Kind: openapi.PageNumber, Argument: "page", First: 1, Max: 5}, []httpcall.Response{page(`[1]`), page(`["` + strings.Repeat("x", 1000) + `"]`)}, "/v1/a /v1/a?page=2", `[1]`, true},
		"error":  {openapi.Pages{Kind: openapi.PageNumber, Argument: "page", First: 1, Max: 5}, []httpcall.Response{page(`[1]`), {Status: 500}}, "/v1/a /v1/a?page=2", `[1]`, true},
	} {
		asked, p := readPages(t, &tc.pages, `{}`, tc.answers...)
		want := map[bool]string{true: "There are more pages."}[tc.more]
		if name == "error" {
			want = "There are more pages. Page 2 failed with HTTP 500."
		}
		got := p.Response()
		if have := strings.Join(asked, " "); have != tc.asked || string(got.Body) != tc.body || got.Note != want {
			t.Errorf("%s: asked for %s, got %s, note %q", name, have, got.Body, got.Note)
		}
		if result := httpcall.NewResult(t.Context(), &openapi.Binding{}, got, nil, time.Now()).JSON; want != "" && !strings.Contains(string(result), want) {
			t.Errorf("%s: the result is %s", name, result)
		}
	}
}
