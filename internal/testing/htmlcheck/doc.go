// Package htmlcheck reads pages as a browser does and says what is wrong with them, so that tests of pages state
// properties and never bytes.
//
//	page := htmlcheck.Parse(t, body)
//	page.Sound(t)                                  // what holds for every page
//	page.Leads(t, "GET /connectors/{id}", …)       // every link and form meets a route
//	if !strings.Contains(page.Text("main"), "Linear") …
//
// It judges the document alone. Colours, focus and what script does are judged in a real browser.
package htmlcheck
