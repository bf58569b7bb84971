package respond

import "net/http"

// Prepare is Problem without the writing: it logs the failure, sets its headers and returns its document, for a caller
// that encodes by itself.
func (p *Responder) Prepare(h http.Header, r *http.Request, err error) ProblemDocument {
	f := p.failure(r, err)
	SetRetryAfter(h, f)
	SetChallenge(h, f, r.Header.Get("Authorization") != "")
	h.Set("Cache-Control", "no-store")
	return Document(f)
}
