package browser

import (
	"strings"

	"github.com/chromedp/chromedp"
)

// reachable marks what the Tab key has to reach: what can be worked, is shown, and is no later button of a group of radio buttons.
const reachable = `(() => {
	const all = [...document.querySelectorAll("a[href], button, input, select, textarea, summary, [tabindex]")].filter(e =>
		e.tabIndex >= 0 && !e.matches(":disabled, [type=hidden]") && !e.closest("[inert], [aria-hidden=true]") && e.checkVisibility({visibilityProperty: true}));
	const groups = new Set();
	window.wanted = all.filter(e => {
		if (e.type !== "radio") return true;
		const group = [...document.getElementsByName(e.name)].filter(r => r.form === e.form);
		return e.checked || !group.some(r => r.checked) && !groups.has(e.name) && groups.add(e.name);
	});
	window.trail = [];
	addEventListener("focusin", event => {
		const e = event.target, looks = [e, e.closest("tr, li, label, .field"), e.nextElementSibling].filter(Boolean)
			.flatMap(x => [getComputedStyle(x), getComputedStyle(x, "::after"), getComputedStyle(x, "::before")]);
		e.seen = looks.some(s => s.outlineStyle !== "none" && parseFloat(s.outlineWidth) > 0 || s.boxShadow !== "none");
		window.trail.push(e);
	});
	document.activeElement.blur?.();
	getSelection().removeAllRanges();
	return window.wanted.length;
})()`

// ways are what is wrong with the way that Tab went.
const ways = `(() => {
	const name = e => e.outerHTML.slice(0, 140), wrong = [];
	for (const e of window.wanted) if (!window.trail.includes(e)) wrong.push("Tab does not reach " + name(e));
	const walked = window.trail.filter(e => window.wanted.includes(e));
	for (let i = 1; i < walked.length; i++) {
		const after = walked[i - 1].compareDocumentPosition(walked[i]) & Node.DOCUMENT_POSITION_FOLLOWING;
		if (!after && walked[i] !== window.wanted[0]) wrong.push("Tab goes back to " + name(walked[i]) + " from " + name(walked[i - 1]));
	}
	for (const e of window.trail) if (!e.seen) wrong.push("nothing shows the focus of " + name(e));
	return wrong.slice(0, 8);
})()`

// Tabs fails the test unless the Tab key reaches all that can be worked, in the page's order, and the focus is seen wherever it is. The
// page keeps the focus where Tab leaves it.
func (b *Tab) Tabs() {
	b.t.Helper()
	n := Eval[int](b, reachable)
	b.do(chromedp.KeyEvent(strings.Repeat("\t", n+8))) // what scrolls takes the focus, too
	for _, wrong := range Eval[[]string](b, ways) {
		b.t.Errorf("at %s: %s", run(b, chromedp.Location()), wrong)
	}
}
