package oauth

import (
	"context"
	"net/url"
)

// TokenHint is the kind of a token to revoke.
type TokenHint string

// The hints (RFC 7009 §2.1).
const (
	HintAccessToken  TokenHint = "access_token"
	HintRefreshToken TokenHint = "refresh_token"
)

// Revoke revokes a token (RFC 7009). A server without a revocation endpoint is no error.
func (c *Client) Revoke(ctx context.Context, p Peer, token Secret, hint TokenHint) error {
	if p.Server.RevocationEndpoint == "" || token == "" {
		return nil
	}
	if err := c.checkURL(StepRevoke, "revocation endpoint", p.Server.RevocationEndpoint); err != nil {
		return err
	}
	auth, err := c.newClientAuth(StepRevoke, p)
	if err != nil {
		return err
	}
	req := httpRequest{
		step: StepRevoke, url: p.Server.RevocationEndpoint,
		form: url.Values{"token": {token.Reveal()}, "token_type_hint": {string(hint)}},
	}
	auth.addTo(&req, p.Client.ClientID)
	a, err := c.sendRequest(ctx, req)
	if err != nil {
		return err
	}
	if a.isOK() {
		return nil
	}
	if o, ok := readResponseObject(a.body); ok && a.status >= 400 && a.status < 500 {
		if code, is := responseError(o); is {
			return newCodedError(StepRevoke, a, code)
		}
	}
	return a.toError(StepRevoke)
}
