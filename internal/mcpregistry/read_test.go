package mcpregistry_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"patchbay/internal/clientconfig"
	"patchbay/internal/fault"
	"patchbay/internal/mcpregistry"
	"patchbay/internal/safehttp"
	"patchbay/internal/testing/egressproxy"
)

func reader(mode safehttp.Mode) *mcpregistry.Reader {
	egress := safehttp.New(safehttp.Options{Mode: mode})
	return mcpregistry.New(egress.Client(), egress.CheckURL)
}

// registry is a server that answers with pages; its asked are the requests, as path and query.
type registry struct {
	*httptest.Server
	asked []string
}

func newRegistry(t *testing.T, page func(q url.Values) string) *registry {
	t.Helper()
	r := &registry{}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		r.asked = append(r.asked, req.URL.RequestURI())
		_, _ = w.Write([]byte(page(req.URL.Query())))
	}))
	t.Cleanup(r.Close)
	return r
}

func server(n int) string {
	return fmt.Sprintf(`{"server": {"name": "com.example/s%d", "version": "1", "remotes": [{"type": "sse", "url": "https://s%d.example.com/sse"}]}}`, n, n)
}

func TestThePagesOfARegistryAreOneDocument(t *testing.T) {
	t.Parallel()
	r := newRegistry(t, func(q url.Values) string {
		if q.Get("cursor") == "two" {
			return `{"servers": [` + server(2) + `], "metadata": {"count": 1}}`
		}
		return `{"servers": [` + server(1) + `], "metadata": {"nextCursor": "two"}}`
	})
	for _, address := range []string{r.URL, r.URL + "/", r.URL + "/v0.1", r.URL + "/v0.1/servers"} {
		r.asked = nil
		list, err := reader(safehttp.Local).Read(t.Context(), address, " rain map ")
		if err != nil {
			t.Fatal(err)
		}
		entries, err := clientconfig.Read(list.Document)
		if err != nil || len(entries) != 2 || list.Servers != 2 || !list.Whole || entries[1].URL != "https://s2.example.com/sse" {
			t.Errorf("%s: %+v %v", address, list, err)
		}
		if len(r.asked) != 2 || r.asked[1] != "/v0.1/servers?cursor=two&limit=100&search=rain+map&version=latest" {
			t.Errorf("%s: asked %q", address, r.asked)
		}
	}
}

func TestAListWithoutEndHasOne(t *testing.T) {
	t.Parallel()
	var n atomic.Int64
	many := newRegistry(t, func(url.Values) string {
		var all []string
		for range 100 {
			all = append(all, server(int(n.Add(1))))
		}
		return fmt.Sprintf(`{"servers": [%s], "metadata": {"nextCursor": "%d"}}`, strings.Join(all, ","), n.Load())
	})
	list, err := reader(safehttp.Local).Read(t.Context(), many.URL, "")
	if err != nil || list.Servers != clientconfig.MaxEntries || list.Whole || len(many.asked) > mcpregistry.MaxPages {
		t.Errorf("%d servers in %d pages, whole %t, %v", list.Servers, len(many.asked), list.Whole, err)
	}
	empty := newRegistry(t, func(url.Values) string {
		return fmt.Sprintf(`{"servers": [], "metadata": {"nextCursor": "%d"}}`, n.Add(1))
	})
	if list, err = reader(safehttp.Local).Read(t.Context(), empty.URL, ""); err != nil || list.Whole || len(empty.asked) != mcpregistry.MaxPages {
		t.Errorf("%d pages, %v", len(empty.asked), err)
	}
	circle := newRegistry(t, func(url.Values) string { return `{"servers": [], "metadata": {"nextCursor": "again"}}` })
	if _, err = reader(safehttp.Local).Read(t.Context(), circle.URL, ""); err != nil || len(circle.asked) != 2 {
		t.Errorf("in a circle: %d pages, %v", len(circle.asked), err)
	}
	long := newRegistry(t, func(url.Values) string {
		big := strings.Replace(server(1), `"version"`, `"description": "`+strings.Repeat("x", 400<<10)+`", "version"`, 1)
		return `{"servers": [` + big + "," + big + "," + big + `]}`
	})
	list, err = reader(safehttp.Local).Read(t.Context(), long.URL, "")
	if err != nil || list.Servers != 2 || list.Whole || len(list.Document) > clientconfig.MaxBytes {
		t.Errorf("%d servers in %d bytes, %v", list.Servers, len(list.Document), err)
	}
}

func TestARegistryThatCannotBeReadIsSaidInOneSentence(t *testing.T) {
	t.Parallel()
	answers := http.NewServeMux()
	answers.Handle("/moved", http.RedirectHandler("https://elsewhere.example.com/", http.StatusFound))
	answers.HandleFunc("/html", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>s3cret</html>")) })
	answers.HandleFunc("/giant", func(w http.ResponseWriter, _ *http.Request) {
		piece := []byte(strings.Repeat(" ", 64<<10))
		for range 80 {
			if _, err := w.Write(piece); err != nil {
				return
			}
		}
	})
	s := httptest.NewServer(answers)
	defer s.Close()
	for address, want := range map[string]string{
		s.URL + "/moved": "registry redirects", s.URL + "/html": "Not an MCP registry list", s.URL + "/giant": "over 4 MiB",
		s.URL + "/nothing": "status 404", "http://127.0.0.1:1/v0.1/servers": "Can't reach the registry", "javascript:alert(1)": "Enter a URL", "": "Enter a URL", "https://u:p@x.example/": "contains a user name",
	} {
		_, err := reader(safehttp.Local).Read(t.Context(), address, "")
		f := fault.As(err)
		if !fault.Is(err, fault.Invalid) || !strings.Contains(f.Message, want) || strings.Contains(f.Message, "s3cret") || len(f.Fields) != 1 || f.Fields[0].Location != "url" {
			t.Errorf("%s: %v, want %q", address, err, want)
		}
	}
}

func TestInPublicARegistryIsAskedByHTTPSAtGlobalAddressesAlone(t *testing.T) {
	t.Parallel()
	r := newRegistry(t, func(url.Values) string { return `{"servers": []}` })
	for _, address := range []string{r.URL, "http://registry.example.com", "https://127.0.0.1/v0.1/servers", "https://10.0.0.1/", "https://169.254.169.254/", "https://localhost/", "https://registry.internal/", "https://[::1]/"} {
		if _, err := reader(safehttp.Public).Read(t.Context(), address, ""); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: %v", address, err)
		}
	}
	if len(r.asked) != 0 {
		t.Errorf("asked %q", r.asked)
	}
}

func TestAProxyThatFailsIsSaid(t *testing.T) {
	t.Parallel()
	beyond := safehttp.New(safehttp.Options{Mode: safehttp.Public, Proxy: egressproxy.Refusing(t, http.StatusForbidden)})
	_, err := mcpregistry.New(beyond.Client(), beyond.CheckURL).Read(t.Context(), "https://8.8.8.8/", "")
	if f := fault.As(err); !fault.Is(err, fault.Invalid) || !strings.HasPrefix(f.Message, "The egress proxy blocks 8.8.8.8 (403).") {
		t.Errorf("%v", err)
	}
}

// roundTripper answers requests without a connection.
type roundTripper func(*http.Request) (*http.Response, error)

// RoundTrip answers one request.
func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestRead_InternationalisedHostIsASCII(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		" " + "https://bücher.example" + " ": "https://xn--bcher-kva.example/v0.1/servers",
		"https://BÜCHER.example:8443/v0":     "https://xn--bcher-kva.example:8443/v0/servers",
		"https://p\u0430ypal.example/":       "", // a Cyrillic letter
		"https://ｌocalhost/v0.1/servers":     "",
		"https://registry.example.com/list":  "https://registry.example.com/list",
	} {
		requested := ""
		client := &http.Client{Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
			requested = r.URL.Scheme + "://" + r.URL.Host + r.URL.Path
			answer := httptest.NewRecorder()
			_, _ = answer.WriteString(`{"servers": []}`)
			return answer.Result(), nil
		})}
		egress := safehttp.New(safehttp.Options{Mode: safehttp.Public})
		_, err := mcpregistry.New(client, egress.CheckURL).Read(t.Context(), address, "")
		if (err == nil) != (want != "") || requested != want {
			t.Errorf("%s: requested %q, want %q: %v", address, requested, want, err)
		}
		if f, ok := errors.AsType[*fault.Error](err); err != nil && (!ok || len(f.Fields) != 1 || f.Fields[0].Location != "url") {
			t.Errorf("%s: %v", address, err)
		}
	}
}
