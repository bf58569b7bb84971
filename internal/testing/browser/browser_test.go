//go:build e2e

package browser_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"patchbay/internal/testing/browser"
)

func serve(t *testing.T, body string) string {
	t.Helper()
	ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Security-Policy", "default-src 'self'; img-src data:")
		_, _ = w.Write([]byte(`<!doctype html><html lang="en"><title>Test</title><link rel="icon" href="data:,"><main>` + body + `</main></html>`))
	}))
	t.Cleanup(ts.Close)
	return ts.URL
}

func TestATabFillsClicksAndReads(t *testing.T) {
	t.Parallel()
	tab := browser.Open(t)
	tab.Go(serve(t, `<h1>Hello</h1><form action="/there"><label>Name <input id="name" name="name"></label><button>Send</button></form>`))
	tab.Fill("#name", "Ada")
	if got := browser.Eval[string](tab, `document.querySelector("#name").value`); got != "Ada" {
		t.Errorf("the field holds %q", got)
	}
	tab.Click("button")
	tab.WaitPath("/there")
	tab.WaitText("h1", "Hello")
	tab.Accessible()
}

func TestAPageIsUsedAgainAfterGoingBackToIt(t *testing.T) {
	t.Parallel()
	tab := browser.Open(t)
	url := serve(t, `<h1>Hello</h1><a href="/next">Next</a><form action="/there"><button>Send</button></form>`)
	tab.Go(url + "/first")
	tab.Click("a")
	tab.WaitPath("/next")
	tab.Back("/first")
	tab.Click("button")
	tab.WaitPath("/there")
}

// TestAccessible_SeesPoorContrast gives one text of a page poor contrast, after a page where all texts have a good one.
func TestAccessible_SeesPoorContrast(t *testing.T) {
	t.Parallel()
	for _, style := range []string{
		"", "#text {color: #999}", "#text {color: #999}", "#text {background: #555}", "#text {opacity: .5}",
		"a {color: #222; text-decoration: none}", "@media (prefers-color-scheme: dark) { #text {color: #999} }",
	} {
		failed := &failures{TB: t}
		tab := browser.Open(failed)
		tab.Go(serve(t, `<h1>Hello</h1><p>Another sentence.</p><p id="text">A sentence that people read.</p>
			<p>A sentence with <a href="/there">a link</a>.</p>`))
		browser.Eval[bool](tab, `(() => { const sheet = new CSSStyleSheet(); sheet.replaceSync("`+style+`"); document.adoptedStyleSheets = [sheet]; return true })()`)
		tab.Accessible()
		if failed.failed != (style != "") {
			t.Errorf("%q: failed %t", style, failed.failed)
		}
	}
}

// failures takes failures instead of the test.
type failures struct {
	testing.TB
	failed bool
}

func (f *failures) Errorf(string, ...any) { f.failed = true }
