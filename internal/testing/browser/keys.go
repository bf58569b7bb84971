package browser

import "github.com/chromedp/chromedp"

// Ctrl presses a key together with Ctrl.
func (b *Tab) Ctrl(key string) {
	b.t.Helper()
	b.do(chromedp.KeyEvent(key, chromedp.KeyModifiers(chromedp.ModifierCtrl)))
}
