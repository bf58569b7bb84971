package oauth

import (
	"context"
	"net/http"
	"net/url"
)

// TokenHint tells a server what kind of token it is handed.
type TokenHint string

// The hints (RFC 7009 §2.1).
const (
	HintAccessToken  TokenHint = "access_token"
	HintRefreshToken TokenHint = "refresh_token"
)

// Revoke tells the server that a token is not needed any more (RFC 7009). Where it offers no revocation, there is
// nothing to do and no error.
func (c *Client) Revoke(ctx context.Context, p Peer, token Secret, hint TokenHint) error {
	if p.Server.RevocationEndpoint == "" || token == "" {
		return nil
	}
	if err := c.checkURL(StepRevoke, "revocation endpoint", p.Server.RevocationEndpoint); err != nil {
		return err
	}
	form, header := url.Values{"token": {token.Reveal()}, "token_type_hint": {string(hint)}}, http.Header{}
	if err := c.authenticate(StepRevoke, p, form, header); err != nil {
		return err
	}
	a, err := c.send(ctx, request{step: StepRevoke, url: p.Server.RevocationEndpoint, form: form, header: header})
	if err != nil {
		return err
	}
	if a.ok() {
		return nil
	}
	if o, ok := readAnswerObject(a.body); ok && a.status >= 400 && a.status < 500 {
		if code, is := answerError(o); is {
			return namedRefusal(StepRevoke, a, code)
		}
	}
	return a.refusal(StepRevoke)
}
