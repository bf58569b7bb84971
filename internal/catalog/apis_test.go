package catalog_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"patchbay/internal/catalog"
	"patchbay/internal/connectors"
	"patchbay/internal/openapi"
)

// TestBuiltin_APIsAreWhatTheirDocumentsSay compares the entries of HTTP APIs with reduced copies of their documents: server, ways to
// sign in and some operations.
func TestBuiltin_APIsAreWhatTheirDocumentsSay(t *testing.T) {
	t.Parallel()
	stored := map[string]bool{}
	files, err := filepath.Glob("testdata/apis/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		stored[strings.TrimSuffix(filepath.Base(file), ".yaml")] = true
	}
	apis := 0
	for _, e := range builtin(t).Entries(catalog.Filter{}) {
		if e.Transport != connectors.TransportAPI {
			continue
		}
		apis++
		if !stored[e.Slug] {
			t.Errorf("%s: no copy of its document", e.Slug)
			continue
		}
		delete(stored, e.Slug)
		text, err := os.ReadFile(filepath.Join("testdata/apis", e.Slug+".yaml"))
		if err != nil {
			t.Fatal(err)
		}
		document, err := openapi.Read(text, openapi.Options{URL: e.URL})
		if err != nil {
			t.Errorf("%s: %v", e.Slug, err)
			continue
		}
		if len(document.Operations) == 0 || len(document.Problems) > 0 {
			t.Errorf("%s: %d operations, %v left out", e.Slug, len(document.Operations), document.Problems)
		}
		if address, err := document.Address(); err != nil || !strings.HasPrefix(address, "https://") {
			t.Errorf("%s: server %q: %v", e.Slug, address, err)
		}
		if !offersSignIn(document, e) {
			t.Errorf("%s: its document does not offer %s", e.Slug, e.Auth)
		}
	}
	for slug := range stored {
		t.Errorf("%s is not in the catalog", slug)
	}
	if apis < 15 {
		t.Errorf("only %d APIs", apis)
	}
}

// offersSignIn reports whether a document has a way to sign in as an entry does. A token of OAuth is also sent as a bearer token, and a
// document without any way leaves it to the documentation.
func offersSignIn(document *openapi.Document, e catalog.Entry) bool {
	proposals := document.Proposals(document.Operations)
	for _, p := range proposals {
		same := p.Type == string(e.Auth) && (e.Auth != connectors.AuthAPIKey || p.In == "header" && p.Name == e.Header)
		if same || p.Type == "oauth2" && e.Auth == connectors.AuthBearer {
			return true
		}
	}
	return len(proposals) == 0 && e.Note != ""
}
