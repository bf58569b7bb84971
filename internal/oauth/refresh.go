package oauth

import (
	"context"
	"net/url"
)

// Refresh trades a refresh token for a new access token (RFC 6749 §6), by one request. The scopes stay as granted: none
// are sent. KindDead is the only failure that ends the grant; after KindUnknownOutcome or KindProtocol the server may
// have rotated the token, and the answer that said so is lost.
func (c *Client) Refresh(ctx context.Context, p Peer, refreshToken Secret) (Token, error) {
	return c.requestToken(ctx, StepRefresh, p, url.Values{
		"grant_type":    {"refresh_token"},
		"refresh_token": {refreshToken.Reveal()},
	})
}
