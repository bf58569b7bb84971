package htmlcheck_test

import (
	"strings"
	"testing"

	"patchbay/internal/testing/htmlcheck"
)

const frame = `<!DOCTYPE html><html lang="en"><head><title>A page</title></head><body><main><h1>A page</h1>%s</main></body></html>`

func TestASoundPageHasNoFaults(t *testing.T) {
	t.Parallel()
	body := `<form method="post" action="/login"><label for="e">E-mail</label><input id="e" type="email" name="email">
		<label>Stay <input type="checkbox" name="stay"></label><button type="submit">Sign in</button></form>
		<a href="/connectors" aria-label="Connectors"><svg></svg></a><time datetime="2026-11-21T10:00:00Z">now</time>`
	page := htmlcheck.Parse(t, strings.Replace(frame, "%s", body, 1))
	page.Sound(t)
	page.Leads(t, "POST /login", "GET /connectors")
	if e, ok := page.Control("email"); !ok || e.Attr("type") != "email" {
		t.Errorf("the control email was not found")
	}
}

func TestEveryFaultIsFound(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`<h1>Two</h1>`:                                           "2 h1",
		`<h3>Deep</h3>`:                                          "follows one of level 1",
		`<p style="color:red">x</p>`:                             "inline style",
		`<p onclick="x()">x</p>`:                                 "inline script",
		`<script>x()</script>`:                                   "inline script",
		`<a href="javascript:x()">x</a>`:                         "is script",
		`<a href="/x" hx-on:click="x()">x</a>`:                   "inline script",
		`<p hx-vals="js:{a:1}">x</p>`:                            "would be evaluated",
		`<p hx-trigger="click[ctrlKey]">x</p>`:                   "would be evaluated",
		`<i id="a"></i><i id="a"></i>`:                           "there twice",
		`<label for="none">x</label>`:                            "which is not there",
		`<a href="#none">x</a>`:                                  "which is not there",
		`<a href="/x"></a>`:                                      "nothing names it",
		`<button type="button"></button>`:                        "nothing names it",
		`<button>x</button>`:                                     "no type",
		`<input type="text" name="x">`:                           "nothing labels it",
		`<input type="password" aria-label="x" value="hunter2">`: "filled in",
		`<select required aria-label="x"><option value="">x</option></select>`: "empty choice",
		`<form><p>x</p></form>`:              "goes nowhere",
		`<time>now</time>`:                   "no datetime",
		`<table><tr><th>x</th></tr></table>`: "head of",
		`<img src="/x">`:                     "no alt",
		`<nav><p>x</p></nav>`:                "nothing names it",
	} {
		faults := htmlcheck.Parse(t, strings.Replace(frame, "%s", body, 1)).Faults()
		if got := strings.Join(faults, "\n"); !strings.Contains(got, want) {
			t.Errorf("%s: want a fault with %q, got %q", body, want, got)
		}
	}
}
