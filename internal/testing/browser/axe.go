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
// a text, which takes most of the time, is judged where no page before had a text in its colours: see [paletteScript].
func (b *Tab) Accessible() {
	b.t.Helper()
	if !Eval[bool](b, `"axe" in window`) {
		Eval[bool](b, axe+`; true`)
		Eval[bool](b, withoutMotion)
		Eval[bool](b, judgeNewColors)
	}
	for _, dark := range []bool{false, true} {
		b.Dark(dark)
		colors := palette.newColors(dark, Eval[[]string](b, paletteScript))
		var found []string
		if !dark || len(colors) > 0 {
			found = b.findings(!dark, colors) // the other rules judge the document alone
		}
		if len(found) == 0 {
			palette.addColors(dark, colors)
		}
		for _, f := range found {
			b.t.Errorf("axe (dark %t) at %s: %s", dark, run(b, chromedp.Location()), f)
		}
	}
	b.do(preferScheme("light")) // without a wait: nothing looks at this page in between
}

// palette has the colours of texts in which axe-core found no fault, by theme.
var palette = knownColors{known: map[bool]map[string]bool{false: {}, true: {}}}

type knownColors struct {
	mu    sync.Mutex
	known map[bool]map[string]bool // guarded by mu
}

// newColors returns those of colors that are not known yet.
func (k *knownColors) newColors(dark bool, colors []string) []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.DeleteFunc(colors, func(c string) bool { return k.known[dark][c] })
}

func (k *knownColors) addColors(dark bool, colors []string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, c := range colors {
		k.known[dark][c] = true
	}
}

// paletteScript lists all that the contrast of the page's texts depends on: each element with a text, its class, its colour, size and
// weight, what is behind it up to the first opaque background, and the underline of links. window.texts has the elements of each.
const paletteScript = `(() => {
	const behind = new Map(), found = window.texts = new Map();
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
		const colors = [e.localName, e.getAttribute("class"), s.color, s.fontSize, s.fontWeight, s.textDecorationLine, s.textShadow,
			e.matches(":disabled, [aria-disabled=true]"), background(e)].join("|");
		found.has(colors) ? found.get(colors).push(e) : found.set(colors, [e]);
	}
	return [...found.keys()];
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

// judgeNewColors limits axe-core's rules for colours to the elements in window.judged and what is in them. One run with the other rules
// takes less time than a second run: each run reads the styles and the places of all elements first.
const judgeNewColors = `(() => {
	for (const rule of axe._audit.rules.filter(r => ["color-contrast", "link-in-text-block"].includes(r.id))) {
		const matches = rule.matches;
		rule.matches = function (node, ...more) {
			let e = node;
			while (e && !window.judged.has(e)) e = e.parentElement;
			return e !== null && matches.call(this, node, ...more);
		};
	}
	return true;
})()`

const (
	documentRules = `["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]`
	colorRules    = `{type: "rule", values: ["color-contrast", "link-in-text-block"]}`
)

// findings runs axe-core once: for the document, for the contrast of texts in colors, which [paletteScript] found, or for both.
func (b *Tab) findings(document bool, colors []string) []string {
	b.t.Helper()
	quoted := make([]string, len(colors))
	for i, c := range colors {
		quoted[i] = quote(c)
	}
	rules := colorRules
	if document {
		rules = documentRules
	}
	enabled := `{enabled: ` + strconv.FormatBool(len(colors) > 0) + `}`
	script := `window.judged = new Set([` + strings.Join(quoted, ", ") + `].flatMap(c => window.texts.get(c)));
		axe.run(document, {runOnly: ` + rules + `, rules: {"color-contrast": ` + enabled + `, "link-in-text-block": ` + enabled + `},
			resultTypes: ["violations"], preload: false}).then(r =>
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
