package authserver_test

import (
	"encoding/json"
	"fmt"
	"hash/crc32"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"patchbay/internal/fault"
	"patchbay/internal/safehttp"
)

func checksum(body string) string { return fmt.Sprintf("%08x", crc32.ChecksumIEEE([]byte(body))) }

// serves has the program's web site answer with a document; changes are name and value, and "" takes one away.
func (w *town) serves(changes ...any) (id string, asked *atomic.Int64) {
	w.t.Helper()
	id, asked = w.site.URL+"/client.json", new(atomic.Int64)
	document := map[string]any{
		"client_id": id, "client_name": "Claude", "redirect_uris": []string{callback, "https://app.example.com/cb"}, "token_endpoint_auth_method": "none",
		"logo_uri": "https://evil.example/bank.png",
	}
	for i := 0; i+1 < len(changes); i += 2 {
		document[changes[i].(string)] = changes[i+1]
		if changes[i+1] == "" {
			delete(document, changes[i].(string))
		}
	}
	body, err := json.Marshal(document)
	if err != nil {
		w.t.Fatal(err)
	}
	w.answers(func(rw http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		rw.Header().Set("Content-Type", "application/json")
		_, _ = rw.Write(body)
	})
	return id, asked
}

func (w *town) answers(f http.HandlerFunc) { w.page.Store(&f) }

func TestAProgramsDocumentSaysWhoseItIs(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	id, asked := w.serves()
	r, err := w.programs.Request(t.Context(), asks(id))
	host := strings.TrimPrefix(w.site.URL, "https://")
	if err != nil || r.Client.Host != host || r.Client.Name != "Claude" {
		t.Fatalf("%+v, %v", r.Client, err)
	}
	tokens := w.signedIn(id)
	if c := w.clients(); len(c) != 1 || c[0].Host != host || c[0].ClientID != id {
		t.Errorf("%+v", c)
	}
	if got := w.refresh(id, tokens.text("refresh_token")); got.Status != http.StatusOK {
		t.Errorf("%+v", got)
	}
	if asked.Load() != 1 {
		t.Errorf("the document was read %d times", asked.Load())
	}
}

func TestDocument_RedirectURIsChange(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	id, _ := w.serves()
	if _, err := w.programs.Request(t.Context(), asks(id)); err != nil {
		t.Fatal(err)
	}
	w.serves("redirect_uris", []string{"https://moved.example.com/cb"})
	w.later(6 * time.Minute)
	if _, err := w.programs.Request(t.Context(), asks(id)); !fault.Is(err, fault.Invalid) {
		t.Errorf("the address of before: %v", err)
	}
	if _, err := w.programs.Request(t.Context(), asks(id, "redirect_uri", "https://moved.example.com/cb")); err != nil {
		t.Errorf("the new one: %v", err)
	}
}

func TestDocument_ForeignIsRefused(t *testing.T) {
	t.Parallel()
	for name, changes := range map[string][]any{
		"of another program":       {"client_id", "https://claude.ai/oauth/client.json"},
		"without an id":            {"client_id", ""},
		"without redirect URIs":    {"redirect_uris", ""},
		"with one that runs":       {"redirect_uris", []string{callback, "javascript:alert(1)"}},
		"with one without TLS":     {"redirect_uris", []string{"http://app.example.com/cb"}},
		"with a secret":            {"client_secret", "s"},
		"that proves itself":       {"token_endpoint_auth_method", "private_key_jwt"},
		"that proves itself, else": {"token_endpoint_auth_method", "client_secret_post"},
		"of another form":          {"redirect_uris", "x"},
	} {
		w := newTown(t)
		id, _ := w.serves(changes...)
		if _, err := w.programs.Request(t.Context(), asks(id)); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestADocumentIsReadWithinBounds(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	good, _ := w.serves()
	for name, f := range map[string]http.HandlerFunc{
		"it is not there": http.NotFound,
		"it is elsewhere": func(rw http.ResponseWriter, r *http.Request) { http.Redirect(rw, r, good, http.StatusFound) },
		"it is a page":    func(rw http.ResponseWriter, _ *http.Request) { _, _ = rw.Write([]byte("<html>")) },
		"it is endless": func(rw http.ResponseWriter, _ *http.Request) {
			rw.Header().Set("Content-Type", "application/json")
			_, _ = rw.Write([]byte(`{"client_id": "` + strings.Repeat("x", 70<<10)))
		},
	} {
		w.answers(f)
		w.later(time.Hour)
		if _, err := w.programs.Request(t.Context(), asks(good)); !fault.Is(err, fault.Upstream) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestDocument_FollowsEgressRules(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	id, asked := w.serves()
	public := w.server(safehttp.New(safehttp.Options{Mode: safehttp.Public, OwnHosts: []string{"patchbay.example.com:443"}}))
	for _, at := range []string{
		id, "https://10.0.0.1/client.json", "https://169.254.169.254/latest/meta-data", "https://[::1]/client.json", "https://localhost/client.json",
		"https://metadata.internal/client.json", "https://patchbay.example.com/oauth/client-metadata.json", "https://8.8.8.8:22/client.json",
	} {
		if _, err := public.Request(t.Context(), asks(at)); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: %v", at, err)
		}
	}
	for _, at := range []string{
		"http://app.example.com/client.json", "https://app.example.com", "https://app.example.com/", "https://user@app.example.com/client.json",
		"https://app.example.com/client.json#x", "https://app.example.com/a/../client.json", "https://app.example.com/client.json?x=1", "file:///etc/passwd", "data:application/json,{}",
	} {
		if _, err := w.programs.Request(t.Context(), asks(at)); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: %v", at, err)
		}
	}
	if asked.Load() != 0 {
		t.Errorf("the document was read %d times", asked.Load())
	}
}

func TestANameIsShownWithoutWhatCannotBeSeen(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	for said, want := range map[string]string{
		"  Claude\n\tDesktop ":             "Claude Desktop",
		"Claude\u202edereifirev":           "Claudedereifirev",
		"\u200b\u2066":                     strings.TrimPrefix(w.site.URL, "https://"),
		strings.Repeat("x", 200):           strings.Repeat("x", 59) + "…",
		"Claude (verified)\x00\x1b[31mred": "Claude (verified)[31mred",
	} {
		id, _ := w.serves("client_name", said)
		w.later(time.Hour)
		if r, err := w.programs.Request(t.Context(), asks(id)); err != nil || r.Client.Name != want {
			t.Errorf("%q is shown as %q, %v", said, r.Client.Name, err)
		}
	}
}
