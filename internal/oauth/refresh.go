package oauth

import (
	"context"
	"net/url"
)

// Refresh exchanges a refresh token for a new access token (RFC 6749 section 6) in one request, without scopes,
// which stay as granted. Only KindDead ends the grant. After KindUnknownOutcome or KindProtocol the server may
// have rotated the token in a lost response.
func (c *Client) Refresh(ctx context.Context, p Peer, refreshToken Secret) (Token, error) {
	return c.requestToken(ctx, StepRefresh, p, url.Values{
		"grant_type":    {"refresh_token"},
		"refresh_token": {refreshToken.Reveal()},
	})
}
