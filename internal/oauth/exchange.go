package oauth

import (
	"context"
	"net/url"
)

// Grant is an authorization response with its proof key.
type Grant struct {
	Code        Secret
	RedirectURI string // as it was sent
	Verifier    Secret // of the PKCE
}

// Exchange trades a code for a token (RFC 6749 §4.1.3), once.
func (c *Client) Exchange(ctx context.Context, p Peer, g Grant) (Token, error) {
	return c.requestNewToken(ctx, StepExchange, p, url.Values{
		"grant_type":    {"authorization_code"},
		"code":          {g.Code.Reveal()},
		"redirect_uri":  {g.RedirectURI},
		"code_verifier": {g.Verifier.Reveal()},
	})
}
