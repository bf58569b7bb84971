package oauth

import (
	"context"
	"net/url"
	"strings"
)

// ClientCredentials gets a token for the client itself (RFC 6749 §4.4), which proves itself by its secret or its key.
func (c *Client) ClientCredentials(ctx context.Context, p Peer, scopes []string) (Token, error) {
	form := url.Values{"grant_type": {"client_credentials"}}
	if len(scopes) > 0 {
		form.Set("scope", strings.Join(scopes, " "))
	}
	return c.requestToken(ctx, StepClientCredentials, p, form)
}
