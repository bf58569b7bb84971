package authserver_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"patchbay/internal/credentials"
)

func TestIssuer_PublishesPublicKeysWhileUsed(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	read := func(path string) (int, map[string]any) {
		rec := httptest.NewRecorder()
		w.router.ServeHTTP(rec, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
		var document map[string]any
		if err := json.Unmarshal(rec.Body.Bytes(), &document); err != nil {
			t.Fatal(err)
		}
		return rec.Code, document
	}
	base := credentials.IssuersPath + w.Tenant.String()
	const discovery, keys = "/.well-known/openid-configuration", "/jwks.json"
	if code, _ := read(base + discovery); code != http.StatusNotFound {
		t.Errorf("before its use: %d", code)
	}
	w.Exchanging(t)
	if err := credentials.EnsureSigningKey(t.Context(), w.St, w.Tenant, time.Now()); err != nil {
		t.Fatal(err)
	}
	code, document := read(base + discovery)
	issuer, _ := document["issuer"].(string)
	if code != http.StatusOK || !strings.HasSuffix(issuer, base) || document["jwks_uri"] != issuer+keys {
		t.Errorf("%d %v", code, document)
	}
	_, document = read(base + keys)
	all, _ := document["keys"].([]any)
	if len(all) != 1 {
		t.Fatalf("keys: %v", document)
	}
	var names []string
	for name := range all[0].(map[string]any) {
		names = append(names, name)
	}
	if slices.Sort(names); !slices.Equal(names, []string{"alg", "e", "kid", "kty", "n", "use"}) {
		t.Errorf("fields of a key: %v", names)
	}
	for _, path := range []string{w.Other.String(), strings.ToUpper(w.Tenant.String()), "{" + w.Tenant.String() + "}", "x"} {
		if code, _ := read(credentials.IssuersPath + path + keys); code != http.StatusNotFound {
			t.Errorf("%s: %d", path, code)
		}
	}
}
