package web_test

import (
	"compress/gzip"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"

	"patchbay/web"
)

func get(t *testing.T, method, path, encoding string) *http.Response {
	t.Helper()
	r := httptest.NewRequest(method, path, nil)
	r.Header.Set("Accept-Encoding", encoding)
	w := httptest.NewRecorder()
	web.Static().ServeHTTP(w, r)
	return w.Result()
}

func body(t *testing.T, r io.Reader) string {
	t.Helper()
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestAnAssetIsKeptForGoodUnderTheHashOfItsContent(t *testing.T) {
	t.Parallel()
	for name, kind := range map[string]string{
		"app.css": "text/css; charset=utf-8", "app.js": "text/javascript; charset=utf-8", "theme.js": "text/javascript; charset=utf-8",
		"htmx.js": "text/javascript; charset=utf-8", "icons.svg": "image/svg+xml", "favicon.svg": "image/svg+xml", "geist-latin.woff2": "font/woff2",
	} {
		if !regexp.MustCompile(`^/static/[a-z-]+\.[0-9a-f]{16}\.[a-z0-9]+$`).MatchString(web.Asset(name)) {
			t.Errorf("%s has the address %s", name, web.Asset(name))
		}
		res := get(t, http.MethodGet, web.Asset(name), "")
		if res.StatusCode != http.StatusOK || res.Header.Get("Content-Type") != kind || !strings.Contains(res.Header.Get("Cache-Control"), "immutable") {
			t.Errorf("%s: %d %v", name, res.StatusCode, res.Header)
		}
	}
}

func TestAnUnknownAssetIsNotFound(t *testing.T) {
	t.Parallel()
	for _, path := range []string{web.Asset("none.css"), "/static/app.css", "/static/", "/static/../embed.go"} {
		if res := get(t, http.MethodGet, path, ""); res.StatusCode != http.StatusNotFound {
			t.Errorf("%s: %d", path, res.StatusCode)
		}
	}
	if res := get(t, http.MethodPost, web.Asset("app.css"), ""); res.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("POST: %d", res.StatusCode)
	}
}

func TestAnAssetComesCompressedToThoseWhoTakeIt(t *testing.T) {
	t.Parallel()
	plain := body(t, get(t, http.MethodGet, web.Asset("app.css"), "").Body)
	res := get(t, http.MethodGet, web.Asset("app.css"), "br, gzip")
	if res.Header.Get("Content-Encoding") != "gzip" || res.Header.Get("Vary") != "Accept-Encoding" {
		t.Fatalf("headers: %v", res.Header)
	}
	z, err := gzip.NewReader(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	if body(t, z) != plain {
		t.Error("the compressed stylesheet is another one")
	}
}

func TestTheStylesheetKnowsItsFontsAndNothingElsewhere(t *testing.T) {
	t.Parallel()
	css := body(t, get(t, http.MethodGet, web.Asset("app.css"), "").Body)
	if strings.Contains(css, "asset(") || strings.Contains(css, `url("")`) {
		t.Error("an address is missing in the stylesheet")
	}
	for _, ref := range regexp.MustCompile(`url\("?(/[^")]+)`).FindAllStringSubmatch(css, -1) {
		if res := get(t, http.MethodGet, ref[1], ""); res.StatusCode != http.StatusOK {
			t.Errorf("%s is not served", ref[1])
		}
	}
	if m := regexp.MustCompile(`url\("?(https?:)?//[^)]*|@import`).FindString(css); m != "" {
		t.Errorf("the stylesheet asks elsewhere: %s", m)
	}
}

// The rule for all elements does not reach their pseudo-elements, and inherited colours move with the one around a disclosure's content.
func TestLessMotion_ReachesEveryPseudoElement(t *testing.T) {
	t.Parallel()
	css := body(t, get(t, http.MethodGet, web.Asset("app.css"), "").Body)
	_, less, _ := strings.Cut(css, "@media (prefers-reduced-motion: reduce) {")
	less, _, _ = strings.Cut(less, "\n  }\n")
	moving := map[string]bool{}
	for _, rule := range regexp.MustCompile(`([^{}]+)\{[^{}]*(?:transition|animation)[^{}]*\}`).FindAllStringSubmatch(css, -1) {
		for _, name := range regexp.MustCompile(`::[a-z-]+`).FindAllString(rule[1], -1) {
			moving[name] = !strings.HasSuffix(name, "-thumb") // of sliders, which no page has
		}
	}
	if !moving["::details-content"] || !moving["::backdrop"] {
		t.Errorf("the test sees %v", moving)
	}
	for name, must := range moving {
		if must && !strings.Contains(less, name) {
			t.Errorf("%s moves where less motion is asked for", name)
		}
	}
}

func TestEveryVendoredFileHasItsLicence(t *testing.T) {
	t.Parallel()
	licences, err := fs.Glob(os.DirFS("static/vendor/LICENSES"), "*.txt")
	if err != nil {
		t.Fatal(err)
	}
	have := strings.Join(licences, " ")
	for _, of := range []string{"htmx", "basecoat-css", "geist-5", "geist-mono", "lucide-static"} {
		if !strings.Contains(have, of) {
			t.Errorf("no licence of %s in %s", of, have)
		}
	}
}

func TestOurScriptsNeedNoEval(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"app.js", "theme.js"} {
		js := body(t, get(t, http.MethodGet, web.Asset(name), "").Body)
		if m := regexp.MustCompile(`\beval\(|new Function|innerHTML|document\.write`).FindString(js); m != "" {
			t.Errorf("%s uses %s", name, m)
		}
	}
}
