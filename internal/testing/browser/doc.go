// Package browser drives a real Chromium in tests: one browser a test binary, one private context (cookies, storage) a tab.
//
//	tab := browser.Open(t)                 // skips where no chromium is installed, fails where CI=true
//	tab.Go(base + "/login")
//	tab.Fill("#email", "owner@example.com")
//	tab.Click("button[type=submit]")
//	tab.WaitText("h1", "Connectors")
//	tab.Accessible()                       // axe-core: nothing serious, light and dark
//
// A console error or an uncaught exception fails the test at its end. Every wait has a bound.
package browser
