package oauth

import (
	"context"
	"net/url"
	"strings"
)

// GrantTokenExchange is the grant type of token exchange (RFC 8693 section 2.1).
const GrantTokenExchange = "urn:ietf:params:oauth:grant-type:token-exchange"

const (
	tokenTypeAccess = "urn:ietf:params:oauth:token-type:access_token"
	tokenTypeJWT    = "urn:ietf:params:oauth:token-type:jwt"
)

// ListsTokenExchange reports whether a server's metadata lists token exchange.
func (m Metadata) ListsTokenExchange() bool {
	return len(m.GrantTypesSupported) > 0 && m.supportsGrant(GrantTokenExchange)
}

// ExchangeRequest asks for an access token on behalf of a subject. Both tokens are JWTs for this authorization server alone.
type ExchangeRequest struct {
	Subject Secret
	Actor   Secret // empty: none is sent
	Scopes  []string
}

// ExchangeToken trades a subject's assertion for an access token (RFC 8693), once. The resource alone names the MCP server: the audience
// parameter is for names of the authorization server's own.
func (c *Client) ExchangeToken(ctx context.Context, p Peer, r ExchangeRequest) (Token, error) {
	form := url.Values{
		"grant_type":           {GrantTokenExchange},
		"requested_token_type": {tokenTypeAccess},
		"subject_token":        {r.Subject.Reveal()},
		"subject_token_type":   {tokenTypeJWT},
	}
	if r.Actor != "" {
		form.Set("actor_token", r.Actor.Reveal())
		form.Set("actor_token_type", tokenTypeJWT)
	}
	if len(r.Scopes) > 0 {
		form.Set("scope", strings.Join(r.Scopes, " "))
	}
	failure := p.addNewProof(StepTokenExchange)
	if failure != nil {
		return Token{}, failure
	}
	response, failure := c.sendTokenRequest(ctx, StepTokenExchange, p, form)
	if failure != nil {
		return Token{}, failure
	}
	t, failure := readTokenResponse(StepTokenExchange, response, c.currentTime(), p.Proof)
	if failure != nil {
		return Token{}, failure
	}
	o, _ := readResponseObject(response.body)
	if issued := o.textField("issued_token_type"); issued != tokenTypeAccess && issued != tokenTypeJWT {
		return Token{}, &Error{Step: StepTokenExchange, Kind: KindProtocol, HTTPStatus: response.status, Detail: "answered with a token of another type"}
	}
	return t, nil
}
