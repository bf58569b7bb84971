package oauth

import (
	"context"
	"net/http"
)

// Recognises reports whether an authorization server still knows the client of an authorization URL, by opening
// it like a browser: for an unknown client servers return an error instead of a page or a redirect (RFC 6749
// section 4.1.2.1). Servers forget dynamically registered clients, and a redirected person would be stuck. Only
// a clear no counts: 400, or 401 with an error code about the client. Other errors may come from a bot filter.
// The URL must be used for nothing else.
func (c *Client) Recognises(ctx context.Context, authorizationURL string) bool {
	a, err := c.sendRequest(ctx, httpRequest{step: StepAuthorize, url: authorizationURL})
	if err != nil {
		return true
	}
	switch a.status {
	case http.StatusBadRequest:
		return false
	case http.StatusUnauthorized:
		o, _ := readObject(a.body)
		_, kind := knownCode(o.textField("error"))
		return kind != KindClient
	}
	return true
}
