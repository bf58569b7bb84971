package browser

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// patience bounds each step. A page of ours is there in milliseconds; the rest is room for a busy machine.
const patience = time.Minute

// shared is the one browser of this test binary. It lives as long as the binary; Chromium ends when its pipe closes.
var shared = sync.OnceValues(func() (context.Context, error) {
	path, err := find()
	if err != nil {
		return nil, err
	}
	opts := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path),
		chromedp.NoSandbox, // tests run as root in containers, where Chromium's sandbox cannot start
		chromedp.DisableGPU,
		chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-quic", true),
		chromedp.WSURLReadTimeout(2*patience), // its start
	)
	alloc, _ := chromedp.NewExecAllocator(context.Background(), opts...)
	ctx, _ := chromedp.NewContext(alloc)
	return ctx, chromedp.Do(ctx)
})

func find() (string, error) {
	var err error
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		var path string
		if path, err = exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", err
}

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
	root, err := shared()
	if err != nil {
		t.Fatalf("start chromium: %v", err)
	}
	ctx, cancel := chromedp.NewContext(root, chromedp.WithNewBrowserContext())
	if err := chromedp.Do(ctx); err != nil { // the tab lives as long as the context of its first action: no timeout here
		t.Fatalf("open a tab: %v", err)
	}
	tab := &Tab{t: t, ctx: ctx}
	tab.do(chromedp.EmulateViewport(1280, 900))
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
	t.Cleanup(func() {
		tab.mu.Lock()
		for _, e := range tab.errors {
			t.Errorf("browser console: %s", e)
		}
		tab.mu.Unlock()
		cancel()
		<-done
	})
	return tab
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
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		b.fail(err)
	}
}

func run[T any](b *Tab, a chromedp.Action[T]) T {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	v, err := chromedp.Run(ctx, a)
	if err != nil {
		b.fail(err)
	}
	return v
}

// fail says where the tab is and what it shows, since an error of the browser says neither.
func (b *Tab) fail(err error) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, 3*time.Second)
	defer cancel()
	at, _ := chromedp.Run(ctx, chromedp.Location())
	text, _ := chromedp.Run(ctx, chromedp.Evaluate[string](`document.body ? document.body.innerText.slice(0, 2000) : ""`))
	b.t.Fatalf("browser: %v\nat %s\n%s", err, at, text)
}

// Go loads a page.
func (b *Tab) Go(url string) {
	b.t.Helper()
	b.do(chromedp.Navigate(url))
}

// Click waits for an element to be visible and to stay where it is, and clicks it.
func (b *Tab) Click(css string) {
	b.t.Helper()
	b.steady(css)
	b.do(chromedp.Click(chromedp.CSS(css), chromedp.NodeVisible))
}

// steady waits until an element stands in the same place at two looks: a click goes to where it was seen, and what unfolds above moves it.
func (b *Tab) steady(css string) {
	b.t.Helper()
	place := `(() => { const e = document.querySelector(` + quote(css) + `); if (!e) return ""; const r = e.getBoundingClientRect();
		return [r.x + scrollX, r.y + scrollY, r.width, r.height].join() })()`
	last := ""
	for end := time.Now().Add(patience); time.Now().Before(end); {
		now := Eval[string](b, place)
		if now != "" && now == last {
			return
		}
		last = now
		<-time.After(50 * time.Millisecond)
	}
}

// Fill replaces a field's value by typing.
func (b *Tab) Fill(css, text string) {
	b.t.Helper()
	b.do(chromedp.WaitVisible(chromedp.CSS(css)), chromedp.Clear(chromedp.CSS(css)), chromedp.SendKeys(chromedp.CSS(css), text))
}

// Choose sets a select's value and tells the page.
func (b *Tab) Choose(css, value string) {
	b.t.Helper()
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

// Text is the visible text of an element.
func (b *Tab) Text(css string) string {
	b.t.Helper()
	return run(b, chromedp.Text(chromedp.CSS(css), chromedp.NodeVisible))
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
	end := time.Now().Add(patience)
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for time.Now().Before(end) {
		ctx, cancel := context.WithTimeout(b.ctx, patience)
		ok, err := chromedp.Run(ctx, chromedp.Evaluate[bool](condition))
		cancel()
		if err == nil && ok {
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

// Value is what a field holds.
func (b *Tab) Value(css string) string {
	b.t.Helper()
	return run(b, chromedp.Value(chromedp.CSS(css)))
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
	b.do(chromedp.Func(func(ctx context.Context, tgt *chromedp.Target) error {
		_, err := cdp.Call(ctx, tgt, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{
				{Name: "prefers-color-scheme", Value: scheme},
				{Name: "prefers-reduced-motion", Value: "reduce"},
			},
		})
		return err
	}))
	b.settle()
}

// settle waits until the page has been drawn with its present styles and nothing moves any more.
func (b *Tab) settle() {
	b.t.Helper()
	run(b, chromedp.Evaluate[bool](`new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() =>
		Promise.allSettled(document.getAnimations().filter(a => a.effect?.getComputedTiming().endTime !== Infinity).map(a => a.finished))
			.then(() => requestAnimationFrame(() => done(true))))))`, chromedp.EvalAwaitPromise))
}

// Screenshot writes the whole page as PNG.
func (b *Tab) Screenshot(file string) {
	b.t.Helper()
	b.settle()
	if err := os.WriteFile(file, run(b, chromedp.FullScreenshot(100)), 0o644); err != nil {
		b.t.Fatal(err)
	}
}
