package oauth

import (
	"context"
	"net/url"
	"strings"
)

// ClientCredentials gets a token for the client itself (RFC 6749 section 4.4), by its secret or key.
func (c *Client) ClientCredentials(ctx context.Context, p Peer, scopes []string) (Token, error) {
	form := url.Values{"grant_type": {"client_credentials"}}
	if len(scopes) > 0 {
		form.Set("scope", strings.Join(scopes, " "))
	}
	return c.requestNewToken(ctx, StepClientCredentials, p, form)
}
