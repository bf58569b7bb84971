package templates

// ErrorPage is a failure page.
type ErrorPage struct {
	Frame     Frame
	Status    int
	Title     string // "Not found"
	Text      string // what to do
	Said      Quote
	RequestID string // empty: none
	TraceID   string // empty: none
	Links     []Link
}
