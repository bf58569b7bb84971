package browser

import (
	_ "embed"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// axe-core 4.14.1, from npm, unchanged (MPL-2.0, see axe/LICENSE).
//
//go:embed axe/axe.min.js
var axe string

// Accessible fails the test for each serious or critical finding of axe-core (WCAG 2.2 A and AA), in light and in dark. The contrast of
// texts, which takes most of the time, is judged where a page has a text in colours that no page before had: see [paletteScript].
func (b *Tab) Accessible() {
	b.t.Helper()
	if !Eval[bool](b, `"axe" in window`) {
		Eval[bool](b, axe+`; true`)
		Eval[bool](b, withoutMotion)
	}
	for _, dark := range []bool{false, true} {
		b.Dark(dark)
		var found []string
		if !dark {
			found = b.findings(documentRules) // they judge the document alone
		}
		if colors := Eval[[]string](b, paletteScript); palette.hasNew(dark, colors) {
			of := b.findings(colorRules)
			if len(of) == 0 {
				palette.addColors(dark, colors)
			}
			found = append(found, of...)
		}
		for _, f := range found {
			b.t.Errorf("axe (dark %t) at %s: %s", dark, run(b, chromedp.Location()), f)
		}
	}
	b.Dark(false)
}

// palette has the colours of texts in which axe-core found no fault, by theme.
var palette = knownColors{known: map[bool]map[string]bool{false: {}, true: {}}}

type knownColors struct {
	mu    sync.Mutex
	known map[bool]map[string]bool // guarded by mu
}

func (k *knownColors) hasNew(dark bool, colors []string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.ContainsFunc(colors, func(c string) bool { return !k.known[dark][c] })
}

func (k *knownColors) addColors(dark bool, colors []string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, c := range colors {
		k.known[dark][c] = true
	}
}

// paletteScript lists all that the contrast of the page's texts depends on: each element with a text, its class, its colour, size and
// weight, what is behind it up to the first opaque background, and the underline of links.
const paletteScript = `(() => {
	const behind = new Map(), found = new Set();
	const background = e => {
		if (!e) return "";
		if (!behind.has(e)) {
			const s = getComputedStyle(e), opaque = !s.backgroundColor.startsWith("rgba(") && !s.backgroundColor.includes("/");
			const own = s.backgroundColor === "rgba(0, 0, 0, 0)" && s.backgroundImage === "none" ? "" : s.backgroundColor + s.backgroundImage + " ";
			behind.set(e, own + (s.opacity === "1" ? "" : s.opacity + " ") + (opaque ? "" : background(e.parentElement)));
		}
		return behind.get(e);
	};
	for (const e of document.querySelectorAll("body *")) {
		const text = [...e.childNodes].some(n => n.nodeType === Node.TEXT_NODE && n.data.trim()) || e.matches("input, select, textarea");
		if (!text || !e.checkVisibility()) continue;
		const s = getComputedStyle(e);
		found.add([e.localName, e.getAttribute("class"), s.color, s.fontSize, s.fontWeight, s.textDecorationLine, s.textShadow,
			e.matches(":disabled, [aria-disabled=true]"), background(e)].join("|"));
	}
	return [...found];
})()`

// withoutMotion ends all transitions. The preference for reduced motion alone does not: a page that has just been loaded can be
// without it for the moment of the switch to dark, and axe then sees a colour on its way.
const withoutMotion = `(() => {
	const sheet = new CSSStyleSheet();
	const none = "{ transition: none !important; animation: none !important }";
	sheet.replaceSync(["*, *::before, *::after", "*::details-content", "*::backdrop"].map(of => of + none).join(" "));
	document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
	return true;
})()`

const (
	documentRules = `{runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
		rules: {"color-contrast": {enabled: false}, "link-in-text-block": {enabled: false}}}`
	colorRules = `{runOnly: {type: "rule", values: ["color-contrast", "link-in-text-block"]}}`
)

func (b *Tab) findings(rules string) []string {
	b.t.Helper()
	script := `axe.run(document, {...` + rules + `, resultTypes: ["violations"], preload: false}).then(r =>
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
