package respond

import "net/http"

// Prepare is [Responder.Problem] without the writing, for a caller that encodes by itself: it logs the failure, sets the
// headers that go with it and returns its document.
func (p *Responder) Prepare(h http.Header, r *http.Request, err error) ProblemDocument {
	f := p.failure(r, err)
	SetRetryAfter(h, f)
	SetChallenge(h, f, r.Header.Get("Authorization") != "")
	h.Set("Cache-Control", "no-store")
	return Document(f)
}
