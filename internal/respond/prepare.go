package respond

import "net/http"

// Prepare is [Responder.Problem] without the body, for a caller that encodes it: it logs the failure, sets the
// headers and returns the document.
func (p *Responder) Prepare(h http.Header, r *http.Request, err error) ProblemDocument {
	f := p.asFault(r, err)
	SetRetryAfter(h, f)
	SetChallenge(h, f, r.Header.Get("Authorization") != "")
	h.Set("Cache-Control", "no-store")
	return Document(f)
}
