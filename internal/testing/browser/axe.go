package browser

import (
	_ "embed"
	"fmt"
	"strconv"
	"strings"

	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// axe-core 4.14.1, from npm, unchanged (MPL-2.0, see axe/LICENSE).
//
//go:embed axe/axe.min.js
var axe string

// Accessible fails the test for each serious or critical finding of axe-core (WCAG 2.2 A and AA), in light and in dark.
func (b *Tab) Accessible() {
	b.t.Helper()
	if !Eval[bool](b, `"axe" in window`) {
		Eval[bool](b, axe+`; true`)
		Eval[bool](b, withoutMotion)
	}
	for _, dark := range []bool{false, true} {
		b.Dark(dark)
		rules := allRules
		if dark {
			rules = colorRules
		}
		for _, f := range b.findings(rules) {
			b.t.Errorf("axe (dark %t) at %s: %s", dark, run(b, chromedp.Location()), f)
		}
	}
	b.Dark(false)
}

// withoutMotion ends all transitions. The preference for reduced motion alone does not: a page that has just been loaded can be
// without it for the moment of the switch to dark, and axe then sees a colour on its way.
const withoutMotion = `(() => {
	const sheet = new CSSStyleSheet();
	sheet.replaceSync("*, *::before, *::after { transition: none !important; animation: none !important }");
	document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
	return true;
})()`

const (
	allRules   = `["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]`
	colorRules = `{type: "rule", values: ["color-contrast", "link-in-text-block"]}` // the others judge the document alone
)

func (b *Tab) findings(rules string) []string {
	b.t.Helper()
	script := `axe.run(document, {runOnly: ` + rules + `, resultTypes: ["violations"], preload: false}).then(r =>
		r.violations.filter(v => v.impact === "serious" || v.impact === "critical")
			.map(v => v.id + ": " + v.help + "\n" + v.nodes.map(n => "  " + n.html + "\n    " + n.failureSummary).join("\n")))`
	return run(b, chromedp.Evaluate[[]string](script, chromedp.EvalAwaitPromise, func(p *runtime.EvaluateParams) { p.ReturnByValue = new(true) }))
}

// Fits fails the test where the page is wider than the viewport, which makes a phone scroll sideways.
func (b *Tab) Fits() {
	b.t.Helper()
	if over := Eval[int](b, `document.documentElement.scrollWidth - document.documentElement.clientWidth`); over > 0 {
		wide := Eval[string](b, `[...document.querySelectorAll("body *")].filter(e => e.getBoundingClientRect().right > innerWidth + 1)
			.slice(0, 5).map(e => e.outerHTML.slice(0, 120)).join("\n")`)
		b.t.Errorf("the page at %s is %d px wider than the viewport:\n%s", run(b, chromedp.Location()), over, wide)
	}
}

// quote makes a JavaScript string literal.
func quote(s string) string {
	return strings.NewReplacer("\u2028", `\u2028`, "\u2029", `\u2029`).Replace(fmt.Sprint(strconv.Quote(s)))
}
