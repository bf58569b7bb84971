package oauth

// TraceStep is one step of discovery, for people. URL is origin and path; the rest has no remote text.
type TraceStep struct {
	Step    Step   `json:"step"`
	URL     string `json:"url,omitempty"`    // empty: no request
	Status  int    `json:"status,omitempty"` // 0: no response
	Read    string `json:"read,omitempty"`   // kind of response, as "HTML"
	Decided string `json:"decided"`          // consequence
}

// fetchAttempt is one fetch before its consequence is decided.
type fetchAttempt struct {
	TraceStep
	body      []byte // of a 2xx response other than HTML
	temporary bool   // a retry may succeed
	forbidden bool   // refused by our egress rules
	cause     *Error
}

func (d *discovery) addTrace(step TraceStep, decided string) {
	step.Decided = decided
	d.found.Trace = append(d.found.Trace, step)
}

// readFailure describes a response that is no document.
func readFailure(a httpResponse) string {
	switch {
	case a.status >= 300 && a.status < 400:
		return "a redirect"
	case !a.isOK():
		return "an error"
	case isHTML(a.body):
		return "HTML"
	case len(a.body) == 0:
		return "nothing"
	}
	return "no JSON object"
}
