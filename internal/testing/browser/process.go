package browser

import (
	"context"
	"errors"
	"os/exec"
	"sync"
	"time"

	"github.com/chromedp/chromedp"
)

// process is the one browser of this test binary, opened by the first tab. It lives as long as the binary: Chromium ends when
// its pipe closes.
var process struct {
	mu  sync.Mutex
	ctx context.Context // guarded by mu; nil before the first tab and after a browser that answers no more
}

// patienceToOpen bounds the opening of a tab, which takes a tenth of a second.
const patienceToOpen = 30 * time.Second

// openTab opens a tab in a browser context of its own. A browser that does not open one is left to itself and another one is started:
// chromedp passes the messages of all tabs through one goroutine, which a tab that nobody reads any more can block for all others.
func openTab() (context.Context, context.CancelFunc, error) {
	var failed error
	for range 2 {
		root, err := current()
		if err != nil {
			return nil, nil, err
		}
		ctx, cancel := chromedp.NewContext(root, chromedp.WithNewBrowserContext())
		// The tab lives as long as the context of its first action, so that this one cannot have a deadline.
		timer := time.AfterFunc(patienceToOpen, cancel)
		_, err = within(ctx, 2*patienceToOpen, func(context.Context) (chromedp.Void, error) { return chromedp.Void{}, chromedp.Do(ctx) })
		if timer.Stop() && err == nil {
			return ctx, cancel, nil
		}
		failed = errors.Join(failed, err)
		leave(root)
	}
	return nil, nil, failed
}

// current is the browser that runs, or a new one.
func current() (context.Context, error) {
	process.mu.Lock()
	defer process.mu.Unlock()
	if process.ctx != nil {
		return process.ctx, nil
	}
	ctx, err := start()
	if err == nil {
		process.ctx = ctx
	}
	return ctx, err
}

// leave forgets a browser and ends it, unless another tab did so before.
func leave(root context.Context) {
	process.mu.Lock()
	defer process.mu.Unlock()
	if process.ctx != root {
		return
	}
	process.ctx = nil
	if p := chromedp.FromContext(root).Browser.Process(); p != nil {
		_ = p.Kill()
	}
}

func start() (context.Context, error) {
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
		// chromedp's own, and BackForwardCache: it waits for ever for the tree of a page that came back from there.
		chromedp.Flag("disable-features", "Translate,BlinkGenPropertyTrees,BackForwardCache"),
		// A page lives for a second or two: optimizing its scripts takes more processor time than it saves.
		chromedp.Flag("js-flags", "--no-maglev --no-turbofan --always-sparkplug"),
		chromedp.WSURLReadTimeout(2*patience), // its start
	)
	alloc, _ := chromedp.NewExecAllocator(context.Background(), opts...)
	ctx, cancel := chromedp.NewContext(alloc)
	timer := time.AfterFunc(2*patience, cancel)
	err = chromedp.Do(ctx)
	timer.Stop()
	return ctx, err
}

// find returns the browser: the headless shell where it is installed, which takes a quarter less processor time. Debian's
// command for it is a shell script that would be killed in its place.
func find() (string, error) {
	var err error
	for _, name := range []string{"/usr/lib/chromium/chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"} {
		var path string
		if path, err = exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", err
}

// within performs do with a deadline and returns then also if do does not: some waits of chromedp are for a lock, which knows no deadline,
// and a test that waits for ever takes the others' results with it.
func within[T any](parent context.Context, limit time.Duration, do func(context.Context) (T, error)) (T, error) {
	type result struct {
		v   T
		err error
	}
	ctx, cancel := context.WithTimeout(parent, limit)
	defer cancel()
	done := make(chan result, 1)
	go func() {
		v, err := do(ctx)
		done <- result{v, err}
	}()
	select {
	case r := <-done:
		return r.v, r.err
	case <-ctx.Done():
	}
	select { // the reason that it gives itself says more
	case r := <-done:
		return r.v, r.err
	case <-time.After(time.Second):
		var none T
		return none, ctx.Err()
	}
}
