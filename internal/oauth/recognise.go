package oauth

import (
	"context"
	"net/http"
)

// Recognises tells whether an authorization server still knows the client of an authorization URL, by opening it as a browser
// would, without a person: a client that it does not know gets an error in place of a page or a redirect (RFC 6749 §4.1.2.1).
// Servers forget clients that registered themselves, and the person who is sent there finds no way on. Anything but a clear no
// counts as a yes: 400, or 401 with an error code that is about the client. What else is refused, a filter may refuse that takes us
// for a robot. The URL should be one that nobody else opens.
func (c *Client) Recognises(ctx context.Context, authorizationURL string) bool {
	a, err := c.send(ctx, request{step: StepAuthorize, url: authorizationURL})
	if err != nil {
		return true
	}
	switch a.status {
	case http.StatusBadRequest:
		return false
	case http.StatusUnauthorized:
		o, _ := readObject(a.body)
		_, kind := knownCode(o.text("error"))
		return kind != KindClient
	}
	return true
}
