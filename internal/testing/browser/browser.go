package browser

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// patience bounds each step. A page of ours is there in milliseconds; the rest is room for a busy machine.
const patience = time.Minute

// Tab is one page in a browser context of its own.
type Tab struct {
	t   testing.TB
	ctx context.Context

	mu     sync.Mutex
	errors []string // what the console said; guarded by mu
}

// Open starts a tab at 1280×900. Without chromium the test is skipped, or fails where CI=true.
func Open(t testing.TB) *Tab {
	t.Helper()
	if _, err := find(); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("chromium is not installed, and CI=true")
		}
		t.Skip("chromium is not installed")
	}
	ctx, cancel, err := openTab()
	if err != nil {
		t.Fatalf("open a tab: %v", err)
	}
	tab := &Tab{t: t, ctx: ctx}
	tab.do(chromedp.EmulateViewport(1280, 900), preferScheme("light"))
	messages := chromedp.Console(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for m, err := range messages {
			if err != nil {
				return
			}
			if m.IsException() || m.Type == "error" || m.Type == "warning" {
				tab.note(m.String() + " (" + m.URL + ")")
			}
		}
	}()
	left := tab.leavePages()
	t.Cleanup(func() {
		tab.mu.Lock()
		for _, e := range tab.errors {
			t.Errorf("browser console: %s", e)
		}
		tab.mu.Unlock()
		cancel()
		<-done // the stream of messages ends with the context
		<-left
	})
	return tab
}

// leavePages answers a page that asks whether it may be left, as one with a changed form does: it may.
func (b *Tab) leavePages() (done chan struct{}) {
	dialogs := chromedp.Events(b.ctx, page.JavascriptDialogOpening)
	done = make(chan struct{})
	go func() {
		defer close(done)
		for d, err := range dialogs {
			if err != nil {
				return
			}
			if d.Type == page.DialogTypeBeforeunload {
				_, _ = chromedp.Call(b.ctx, page.HandleJavaScriptDialog, page.HandleJavaScriptDialogParams{Accept: true})
			}
		}
	}()
	return done
}

func (b *Tab) note(text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.errors = append(b.errors, text)
}

// Forgive forgets console messages that contain text: a page that answers 404 on purpose is logged by the browser.
func (b *Tab) Forgive(text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var kept []string
	for _, e := range b.errors {
		if !strings.Contains(e, text) {
			kept = append(kept, e)
		}
	}
	b.errors = kept
}

func (b *Tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	_, err := within(b.ctx, patience, func(ctx context.Context) (chromedp.Void, error) {
		return chromedp.Void{}, chromedp.Do(ctx, steps...)
	})
	if err != nil {
		b.fail(err)
	}
}

func run[T any](b *Tab, a chromedp.Action[T]) T {
	b.t.Helper()
	v, err := within(b.ctx, patience, func(ctx context.Context) (T, error) { return chromedp.Run(ctx, a) })
	if err != nil {
		b.fail(err)
	}
	return v
}

// look evaluates script; false if the page was being replaced at that moment, or did not answer.
func look[T any](b *Tab, script string) (T, bool) {
	v, err := within(b.ctx, patience, func(ctx context.Context) (T, error) {
		return chromedp.Run(ctx, chromedp.Evaluate[T](script))
	})
	return v, err == nil
}

// fail says where the tab is and what it shows, since an error of the browser says neither.
func (b *Tab) fail(err error) {
	b.t.Helper()
	shown, _ := within(b.ctx, 3*time.Second, func(ctx context.Context) (string, error) {
		return chromedp.Run(ctx, chromedp.Evaluate[string](`location.href + "\n" + (document.body ? document.body.innerText.slice(0, 2000) : "")`))
	})
	b.t.Fatalf("browser: %v\nat %s", err, shown)
}

// Go loads a page and waits for its scripts. If the page before it is on its way to another one at that moment, which ends this load,
// it begins anew.
func (b *Tab) Go(url string) {
	b.t.Helper()
	for end := time.Now().Add(patience); ; {
		_, err := within(b.ctx, patience/3, func(ctx context.Context) (chromedp.Void, error) {
			return chromedp.Void{}, chromedp.Do(ctx, chromedp.Navigate(url))
		})
		if err == nil {
			b.until(`document.readyState === "complete"`) // the load event that ends Navigate may be the one of the page before
			return
		}
		// The answer to a form sent before may take the place of this page: its load event never comes.
		if !strings.Contains(err.Error(), "net::ERR_ABORTED") && !errors.Is(err, context.DeadlineExceeded) || time.Now().After(end) {
			b.fail(err)
		}
		<-time.After(100 * time.Millisecond)
	}
}

// Back goes to the page before this one, whose path it waits for.
func (b *Tab) Back(path string) {
	b.t.Helper()
	Eval[bool](b, `(setTimeout(() => history.back()), true)`) // later: the answer comes from a page that is still there
	b.WaitPath(path)
}

// Click waits until the page's scripts have run and an element is shown, stays where it is and is covered by nothing, and clicks its
// middle. Like all of this package it finds the element by a script each time: a node that chromedp keeps is gone when another page takes
// the place of this one.
func (b *Tab) Click(css string) {
	b.t.Helper()
	var last spot
	for end := time.Now().Add(patience); time.Now().Before(end); {
		now, ok := look[spot](b, `(`+findSpot+`)(`+quote(css)+`)`)
		if ok && now.Ready && now == last {
			b.do(chromedp.MouseClickXY(now.X-now.ScrolledX, now.Y-now.ScrolledY))
			return
		}
		last = now
		<-time.After(50 * time.Millisecond)
	}
	b.fail(fmt.Errorf("%s cannot be clicked: %+v", css, last))
}

// spot is where an element can be clicked, in CSS pixels of the document.
type spot struct {
	X         float64 `json:"x"`
	Y         float64 `json:"y"`
	ScrolledX float64 `json:"scrolledX"`
	ScrolledY float64 `json:"scrolledY"`
	Ready     bool    `json:"ready"`
	Cover     string  `json:"cover"` // what takes the click instead
}

// findSpot looks for an element's [spot] and scrolls it into view.
const findSpot = `css => {
	const e = document.querySelector(css), none = {x: 0, y: 0, scrolledX: 0, scrolledY: 0, ready: false};
	if (!e) return {...none, cover: "no such element"};
	if (document.readyState !== "complete") return {...none, cover: "the page loads"};
	if (!e.checkVisibility({visibilityProperty: true})) return {...none, cover: "not shown"};
	e.scrollIntoViewIfNeeded();
	const r = e.getClientRects()[0], x = r.x + r.width / 2, y = r.y + r.height / 2, top = document.elementFromPoint(x, y);
	const ready = !!top && (e.contains(top) || top.closest("label")?.control === e);
	if (!ready) e.scrollIntoView({block: "center", inline: "nearest", behavior: "instant"});
	return {x: x + scrollX, y: y + scrollY, scrolledX: scrollX, scrolledY: scrollY, ready, cover: ready ? "" : top?.outerHTML.slice(0, 200) ?? "nothing"};
}`

// Fill replaces a field's value, in one piece as pasting does.
func (b *Tab) Fill(css, text string) {
	b.t.Helper()
	b.until(`document.readyState === "complete" && (() => { const e = document.querySelector(` + quote(css) + `); e?.focus(); return e !== null && document.activeElement === e })()`) // what unfolds takes no focus at first
	Eval[bool](b, `(() => { const e = document.activeElement; if (e.value === "") return true;
		e.value = ""; return e.dispatchEvent(new Event("input", {bubbles: true})) })()`) // chromedp.Clear takes the default value away
	b.do(chromedp.Func(func(ctx context.Context, tgt *chromedp.Target) error {
		_, err := cdp.Call(ctx, tgt, input.InsertText, input.InsertTextParams{Text: text})
		return err
	}))
}

// Choose waits for a select, sets its value and tells the page.
func (b *Tab) Choose(css, value string) {
	b.t.Helper()
	b.until(`document.querySelector(` + quote(css) + `) !== null && document.readyState === "complete"`)
	ok := Eval[bool](b, `(() => { const s = document.querySelector(`+quote(css)+`); s.value = `+quote(value)+`;
		s.dispatchEvent(new Event("input", {bubbles: true})); s.dispatchEvent(new Event("change", {bubbles: true})); return s.value === `+quote(value)+`; })()`)
	if !ok {
		b.t.Fatalf("browser: %s has no choice %q", css, value)
	}
}

// Press types keys into whatever has the focus.
func (b *Tab) Press(keys string) {
	b.t.Helper()
	b.do(chromedp.KeyEvent(keys))
}

// Text waits for an element to be shown and is its visible text.
func (b *Tab) Text(css string) string {
	b.t.Helper()
	var text string
	b.waitFor(func() bool {
		shown, ok := look[[]string](b, `[...document.querySelectorAll(`+quote(css)+`)].slice(0, 1).filter(e => e.checkVisibility()).map(e => e.innerText)`)
		if ok && len(shown) == 1 {
			text = shown[0]
		}
		return ok && len(shown) == 1
	})
	return text
}

// WaitText waits until some element that matches contains text.
func (b *Tab) WaitText(css, text string) {
	b.t.Helper()
	b.until(`[...document.querySelectorAll(` + quote(css) + `)].some(e => e.innerText.includes(` + quote(text) + `))`)
}

// WaitGone waits until no element matches.
func (b *Tab) WaitGone(css string) {
	b.t.Helper()
	b.until(`!document.querySelector(` + quote(css) + `)`)
}

// WaitPath waits until the tab is at a path (without the query).
func (b *Tab) WaitPath(path string) {
	b.t.Helper()
	b.until(`location.pathname === ` + quote(path) + ` && document.readyState === "complete"`)
}

// until evaluates a condition ten times a second. It survives the page being replaced, as polling inside the page would not.
func (b *Tab) until(condition string) {
	b.t.Helper()
	b.waitFor(func() bool {
		holds, ok := look[bool](b, condition)
		return ok && holds
	})
}

func (b *Tab) waitFor(isDone func() bool) {
	b.t.Helper()
	end := time.Now().Add(patience)
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for time.Now().Before(end) {
		if isDone() {
			return
		}
		<-tick.C
	}
	b.fail(context.DeadlineExceeded)
}

// Eval runs script in the page and returns its value.
func Eval[T any](b *Tab, script string) T {
	b.t.Helper()
	return run(b, chromedp.Evaluate[T](script))
}

// Scripts turns the page's scripts on or off, from the next page on.
func (b *Tab) Scripts(on bool) {
	b.t.Helper()
	b.do(chromedp.Func(func(ctx context.Context, tgt *chromedp.Target) error {
		_, err := cdp.Call(ctx, tgt, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: !on})
		return err
	}))
}

// Value waits for a field and is what it holds. A script asks for it: a page that has just come can take the node away from any other question.
func (b *Tab) Value(css string) string {
	b.t.Helper()
	b.until(`document.readyState === "complete" && document.querySelector(` + quote(css) + `) !== null`)
	return Eval[string](b, `document.querySelector(`+quote(css)+`).value`)
}

// Size sets the viewport, in CSS pixels.
func (b *Tab) Size(width, height int64) {
	b.t.Helper()
	b.do(chromedp.EmulateViewport(width, height))
}

// Dark switches the preferred colour scheme.
func (b *Tab) Dark(on bool) {
	b.t.Helper()
	scheme := "light"
	if on {
		scheme = "dark"
	}
	b.do(preferScheme(scheme))
	b.waitUntilStill()
}

// preferScheme sets the preferred colour scheme, and less motion: what moves would be drawn sixty times a second, and looked at on its way.
func preferScheme(scheme string) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, tgt *chromedp.Target) error {
		_, err := cdp.Call(ctx, tgt, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{
				{Name: "prefers-color-scheme", Value: scheme},
				{Name: "prefers-reduced-motion", Value: "reduce"},
			},
		})
		return err
	})
}

// waitUntilStill waits until the page has been drawn with its present styles and nothing moves any more.
func (b *Tab) waitUntilStill() {
	b.t.Helper()
	run(b, chromedp.Evaluate[bool](`(async () => {
		const frame = () => new Promise(requestAnimationFrame);
		const moving = () => document.getAnimations().filter(a => a.effect?.getComputedTiming().endTime !== Infinity && a.playState !== "finished");
		await frame();
		await frame();
		for (let now; (now = moving()).length; await frame()) await Promise.allSettled(now.map(a => a.finished));
		await frame();
		return true;
	})()`, chromedp.EvalAwaitPromise))
}

// Screenshot writes the whole page as PNG.
func (b *Tab) Screenshot(file string) {
	b.t.Helper()
	b.waitUntilStill()
	if err := os.WriteFile(file, run(b, chromedp.FullScreenshot(100)), 0o644); err != nil {
		b.t.Fatal(err)
	}
}
