package templates

// APIAnswer says how the answer of an HTTP API becomes the result of a tool. Its form posts filter, max_pages and do ("test" or
// "save") to Action.
type APIAnswer struct {
	Action   string
	Can      bool // the person may change it
	Form     Form
	HasPages bool    // the document shows how to page
	Facts    []Fact  // without Can
	Result   *Result // of the test; nil: there was none
}
