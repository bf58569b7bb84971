package connectors

import (
	"bytes"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"patchbay/internal/clientconfig"
	"patchbay/internal/fault"
	"patchbay/internal/middleware"
)

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
		document, at, err := ReadDocument(r)
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
