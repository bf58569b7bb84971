package browser

import (
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// Stays fails the test where what stood on the page moved by itself while it loaded: its layout shift (CLS) is 0.01 or more.
func (b *Tab) Stays() {
	b.t.Helper()
	b.waitUntilStill()
	moved := run(b, chromedp.Evaluate[[]string](`new Promise(done => {
		let sum = 0; const what = [];
		const seen = list => { for (const e of list) if (!e.hadRecentInput) { sum += e.value; what.push(...e.sources.map(s => (s.node?.outerHTML ?? s.node?.textContent ?? "gone").slice(0, 120))) } };
		const o = new PerformanceObserver(list => seen(list.getEntries()));
		o.observe({type: "layout-shift", buffered: true});
		requestAnimationFrame(() => requestAnimationFrame(() => { seen(o.takeRecords()); done(sum < 0.01 ? [] : [sum.toFixed(3), ...what]) }));
	})`, chromedp.EvalAwaitPromise, func(p *runtime.EvaluateParams) { p.ReturnByValue = new(true) }))
	if len(moved) > 0 {
		b.t.Errorf("the page at %s moves while it loads: %q", run(b, chromedp.Location()), moved)
	}
}

// Rests fails the test where something would move although the person asked for less motion, as [Tab.Dark] says for them.
func (b *Tab) Rests() {
	b.t.Helper()
	moving := Eval[[]string](b, `[...document.querySelectorAll("*")].filter(e => {
		const s = getComputedStyle(e), longest = list => Math.max(...list.split(",").map(parseFloat));
		return longest(s.transitionDuration) > 0.01 || s.animationName !== "none" && longest(s.animationDuration) > 0.01 && s.animationIterationCount !== "1";
	}).slice(0, 5).map(e => e.outerHTML.slice(0, 120))`)
	if len(moving) > 0 {
		b.t.Errorf("the page at %s moves although less motion is asked for: %q", run(b, chromedp.Location()), moving)
	}
}
