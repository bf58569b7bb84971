//go:build e2e

package browser

import (
	"testing"

	"github.com/chromedp/chromedp"
)

// Not parallel: it ends the browser that the other tests share.
func TestATabOpensAfterTheBrowserDied(t *testing.T) {
	Open(t)
	if err := chromedp.FromContext(process.ctx).Browser.Process().Kill(); err != nil {
		t.Fatal(err)
	}
	tab := Open(t)
	if got := Eval[int](tab, `1 + 1`); got != 2 {
		t.Errorf("the new browser says %d", got)
	}
}
