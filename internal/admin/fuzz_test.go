package admin

import (
	"bytes"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"strings"
	"testing"

	"patchbay/internal/clientconfig"
	"patchbay/internal/fault"
	"patchbay/internal/middleware"
	"patchbay/internal/store"
)

// FuzzAddresses: a list's query is read as its own links write it, the links stay on the page, and a day is one
// day.
func FuzzAddresses(f *testing.F) {
	for _, query := range []string{
		"agent=a&connector=b&tool=%20x%20&status=error&size=25", "connector=a&state=all&cursor=WyJh", "sort=-tools&sort=name&cursor=x", "sort=--", "since=2026-01-31&until=9999-12-31&entry=x",
		"since=2026-02-30", "until=0000-01-01", "q=%ff%00&effect=destructive&provider=google&sort=size&days=7", "size=1e2&days=030", "%zz=1;a=b", "status=&status=error", "q=//evil.example",
	} {
		f.Add(query)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		r := httptest.NewRequest(http.MethodGet, "/connectors", nil)
		r.URL.RawQuery = raw
		q := r.URL.Query()
		if calls := readCallQuery(q); readCallQuery(calls.urlValues()) != calls || calls.isFiltered() != (len(calls.urlValues()) > 0) {
			t.Errorf("%q is %+v, and its links lead to %+v", raw, calls, readCallQuery(calls.urlValues()))
		}
		if changes := readChangeQuery(q); readChangeQuery(changes.urlValues()) != changes || changes.isFiltered() != (len(changes.urlValues()) > 0) {
			t.Errorf("%q is %+v, and its links lead to %+v", raw, changes, readChangeQuery(changes.urlValues()))
		}
		tools := readToolFilter(q)
		if form := tools.toForm().Values; readToolFilter(url.Values{"q": {form["q"]}, "effect": {form["effect"]}}) != tools {
			t.Errorf("%q is the filter %+v, and its form is %v", raw, tools, form)
		}
		audited, ok := readAuditQuery(q).toFilter("")
		if since, until := audited.Since, audited.Until; ok && since != nil && until != nil && readAuditQuery(q).since == readAuditQuery(q).until && !until.Equal(since.AddDate(0, 0, 1)) {
			t.Errorf("%q is the day from %s to %s", raw, since, until)
		}
		if n := readPage(r).Limit; n < 1 || n > store.MaxLimit {
			t.Errorf("%q asks for %d rows", raw, n)
		}
		for by, head := range newHeads(r, connectorOrder) {
			at, err := r.URL.Parse(head.Href)
			if err != nil || at.Path != "/connectors" || at.Host != r.URL.Host || at.Query().Has("cursor") {
				t.Fatalf("%q leads to %q: %v", raw, head.Href, err)
			}
			if order := readOrder(at.Query()); order != (store.SortOrder{}) && order.By != by || order == (store.SortOrder{}) && by != "name" {
				t.Errorf("%q leads to %q for %q", raw, head.Href, by)
			}
			rest, was := at.Query(), r.URL.Query()
			for _, name := range []string{"sort", "cursor"} {
				rest.Del(name)
				was.Del(name)
			}
			if !reflect.DeepEqual(rest, was) {
				t.Errorf("%q leads to %q", raw, head.Href)
			}
		}
	})
}

// FuzzUpload: a pasted or chosen document is the part that mime/multipart reads, and an invalid form is refused
// with a message.
func FuzzUpload(f *testing.F) {
	const boundary = "multipart/form-data; boundary=b"
	part := func(header, text string) string {
		return "--b\r\nContent-Disposition: form-data; " + header + "\r\n\r\n" + text + "\r\n"
	}
	for _, body := range []string{
		part(`name="document"`, "{}") + "--b--\r\n", part(`name="file"; filename="a.json"`, `{"mcpServers":{}}`) + "--b--\r\n", part(`name="file"; filename=""`, "") + part(`name="document"`, "x") + "--b--",
		part(`name="document"`, "a") + part(`name="document"`, "b") + part(`name="file"; filename="../../a"`, "c") + "--b--\r\n", part(`name="file"; filename="a"`, "a") + part(`name="file"; filename="b"`, "b") + "--b--\r\n",
		part(`name="document"; filename*=utf-8''x`, "x"), "--b\r\n\r\n\r\n--b--", "--b--", "", part(`name="file"`, "not a file") + "--b--\r\n",
	} {
		f.Add(boundary, body)
	}
	f.Add("application/x-www-form-urlencoded", "document=%7b%7d&document=x")
	f.Add("application/x-www-form-urlencoded", "document=%zz;")
	f.Add("multipart/form-data", "x")
	f.Add("multipart/mixed; boundary=b", part(`name="document"`, "x")+"--b--")
	f.Fuzz(func(t *testing.T, kind, body string) {
		r := httptest.NewRequest(http.MethodPost, "/connectors/import", strings.NewReader(body))
		r.Header.Set("Content-Type", kind)
		document, at, err := readDocument(r)
		if r.MultipartForm != nil {
			_ = r.MultipartForm.RemoveAll()
		}
		switch {
		case err != nil && !fault.Is(err, fault.Malformed) && !fault.Is(err, fault.Invalid):
			t.Errorf("%q %q: %v", kind, body, err)
		case err != nil:
			return
		case len(document) == 0 || len(document) > max(middleware.MaxBody, clientconfig.MaxBytes+1):
			t.Errorf("%q %q is a document of %d bytes", kind, body, len(document))
		}
		if pasted, chosen := splitUpload(kind, body); at == "document" && !bytes.Equal(document, pasted) || at == "file" && !bytes.Equal(document, chosen) {
			t.Errorf("%q %q is the %s %q: there are %q and %q", kind, body, at, document, pasted, chosen)
		}
	})
}

// splitUpload returns the first text and the first file with the form's names, read part by part.
func splitUpload(kind, body string) (pasted, chosen []byte) {
	media, params, _ := mime.ParseMediaType(kind)
	if media == "application/x-www-form-urlencoded" {
		q, _ := url.ParseQuery(body)
		return []byte(q.Get("document")), nil
	}
	in := multipart.NewReader(strings.NewReader(body), params["boundary"])
	for {
		p, err := in.NextPart()
		if err != nil {
			return pasted, chosen
		}
		text, _ := io.ReadAll(p)
		switch {
		case p.FormName() == "document" && p.FileName() == "" && pasted == nil:
			pasted = text
		case p.FormName() == "file" && p.FileName() != "" && chosen == nil:
			chosen = text
		}
	}
}
