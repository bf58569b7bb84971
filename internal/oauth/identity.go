package oauth

import (
	"context"
	"net/url"
	"slices"
	"strings"
	"time"
)

// GrantProfileIdentity names the Identity Assertion JWT Authorization Grant (ID-JAG) in a server's metadata.
const GrantProfileIdentity = "urn:ietf:params:oauth:grant-profile:id-jag"

// GrantJWTBearer is the grant type of assertions (RFC 7523 section 2.1).
const GrantJWTBearer = "urn:ietf:params:oauth:grant-type:jwt-bearer"

const tokenTypeIdentity = "urn:ietf:params:oauth:token-type:id-jag"

// SubjectType is the type of the token that stands for a person (RFC 8693 section 3).
type SubjectType string

// The types that an identity provider takes.
const (
	SubjectIDToken      SubjectType = "urn:ietf:params:oauth:token-type:id_token"
	SubjectRefreshToken SubjectType = "urn:ietf:params:oauth:token-type:refresh_token"
)

// AcceptsIdentityAssertions reports whether a server takes identity assertions: it lists the profile. Servers from before the
// profile had a name list the grant type alone, without one for people.
func (m Metadata) AcceptsIdentityAssertions() bool {
	return slices.Contains(m.GrantProfilesSupported, GrantProfileIdentity) ||
		m.GrantProfilesSupported == nil && slices.Contains(m.GrantTypesSupported, GrantJWTBearer) && !slices.Contains(m.GrantTypesSupported, "authorization_code")
}

// IdentityRequest asks an identity provider for an assertion about a person.
type IdentityRequest struct {
	Subject     Secret // of the person's sign-in
	SubjectType SubjectType
	Audience    string // issuer of the authorization server that will get the assertion
	Scopes      []string
}

// IdentityAssertion is a person's identity, for one client at one authorization server. It is not an access token.
type IdentityAssertion struct {
	Text   Secret
	Scopes []string // nil: as requested
}

// ExchangeIdentity trades the token of a sign-in for an identity assertion (RFC 8693). p is the identity provider, and p.Resource the
// MCP server.
func (c *Client) ExchangeIdentity(ctx context.Context, p Peer, r IdentityRequest) (IdentityAssertion, error) {
	form := url.Values{
		"grant_type":           {GrantTokenExchange},
		"requested_token_type": {tokenTypeIdentity},
		"subject_token":        {r.Subject.Reveal()},
		"subject_token_type":   {string(r.SubjectType)},
		"audience":             {r.Audience},
	}
	if len(r.Scopes) > 0 {
		form.Set("scope", strings.Join(r.Scopes, " "))
	}
	response, failure := c.sendTokenRequest(ctx, StepIdentity, p, form)
	if failure != nil {
		return IdentityAssertion{}, failure
	}
	a, failure := readIdentityResponse(response)
	if failure != nil {
		return IdentityAssertion{}, failure
	}
	return a, nil
}

// readIdentityResponse accepts only what is declared as an identity assertion: anything else could be a token for another use.
func readIdentityResponse(a httpResponse) (IdentityAssertion, *Error) {
	wrong := func(detail string) *Error {
		return &Error{Step: StepIdentity, Kind: KindProtocol, HTTPStatus: a.status, Detail: detail}
	}
	if a.isTemporary() || a.status >= 300 && a.status < 400 {
		return IdentityAssertion{}, a.toError(StepIdentity)
	}
	o, ok := readObject(a.body)
	if !ok {
		if a.isOK() {
			return IdentityAssertion{}, wrong("answered with " + readFailure(a))
		}
		return IdentityAssertion{}, a.toError(StepIdentity)
	}
	if code, is := responseError(o); is || !a.isOK() {
		return IdentityAssertion{}, newCodedError(StepIdentity, a, code)
	}
	text := o.longTextField("access_token")
	switch {
	case o.textField("issued_token_type") != tokenTypeIdentity:
		return IdentityAssertion{}, wrong("answered with a token of another type")
	case text == "" || len(text) > maxTokenLength || !isPrintable(text):
		return IdentityAssertion{}, wrong("answered without an identity assertion")
	}
	return IdentityAssertion{Text: Secret(text), Scopes: o.scopeField()}, nil
}

// RedeemAssertion trades a JWT for a token (RFC 7523 section 2.1), once.
func (c *Client) RedeemAssertion(ctx context.Context, p Peer, assertion Secret, scopes []string) (Token, error) {
	form := url.Values{"grant_type": {GrantJWTBearer}, "assertion": {assertion.Reveal()}}
	if len(scopes) > 0 {
		form.Set("scope", strings.Join(scopes, " "))
	}
	return c.requestNewToken(ctx, StepAssertion, p, form)
}

// IdentityExpiry returns when a JWT expires, unverified; zero: unknown. It only avoids requests that cannot succeed.
func IdentityExpiry(token Secret) time.Time {
	o, ok := readTokenClaims(token.Reveal())
	if !ok {
		return time.Time{}
	}
	at, ok := o.secondsField("exp")
	if !ok || at <= 0 {
		return time.Time{}
	}
	return time.Unix(at, 0)
}

// AssertionAudience returns the aud of a JWT, unverified; nil: unknown.
func AssertionAudience(token Secret) []string {
	o, ok := readTokenClaims(token.Reveal())
	if !ok {
		return nil
	}
	return o.textListField("aud")
}
