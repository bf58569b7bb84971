package oauth

// TraceStep is one thing that discovery looked at, for a person who wants to know why it went as it did. URL is origin
// and path; the rest is in our words.
type TraceStep struct {
	Step    Step   `json:"step"`
	URL     string `json:"url,omitempty"`    // empty: nothing was asked
	Status  int    `json:"status,omitempty"` // 0: no answer
	Read    string `json:"read,omitempty"`   // what came, as "HTML"
	Decided string `json:"decided"`          // what follows from it
}

// tried is one look at a URL, before it is decided what follows.
type tried struct {
	TraceStep
	body      []byte // of a 2xx answer that is no HTML
	temporary bool   // the same look may go another way later
	forbidden bool   // the connection was refused by our rules
	cause     *Error
}

func (d *discovery) note(step TraceStep, decided string) {
	step.Decided = decided
	d.found.Trace = append(d.found.Trace, step)
}

// readFailure says what a look brought that is no document.
func readFailure(a answer) string {
	switch {
	case a.status >= 300 && a.status < 400:
		return "a redirect"
	case !a.ok():
		return "an error"
	case isHTML(a.body):
		return "HTML"
	case len(a.body) == 0:
		return "nothing"
	}
	return "no JSON object"
}
