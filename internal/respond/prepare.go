package respond

import (
	"context"
	"net/http"
)

// Prepare is [Responder.Problem] without the body, for a caller that encodes it: it logs the failure, sets the
// headers and returns the document.
func (p *Responder) Prepare(h http.Header, r *http.Request, err error) ProblemDocument {
	f := p.asFault(r.Context(), err)
	SetRetryAfter(h, f)
	SetChallenge(h, f, r.Header.Get("Authorization") != "")
	h.Set("Cache-Control", "no-store")
	return Document(f)
}

// PreparePart is [Responder.Prepare] for a part of a response, which has no headers of its own.
func (p *Responder) PreparePart(ctx context.Context, err error) ProblemDocument {
	return Document(p.asFault(ctx, err))
}
