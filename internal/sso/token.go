package sso

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/jws"
	"patchbay/internal/store"
)

const (
	clockSkew = time.Minute // between the provider and us
	maxClaims = 1000        // groups per person
)

// identity is the person as the provider describes them.
type identity struct {
	Subject store.SSOSubject
	Email   string
	Name    string
	Groups  []string

	tokens store.SSOTokens // of this sign-in
}

// tokenExpectation is what an id token must match.
type tokenExpectation struct {
	nonce string
	since time.Time
	anew  bool // the person must have authenticated since then
}

// verifyIDToken validates an id token (OpenID Connect Core section 3.1.3.7): go-oidc checks signature, iss, aud
// and exp, this function the rest.
func (s *Service) verifyIDToken(ctx context.Context, p *provider, settings connectors.SSO, raw string, want tokenExpectation) (*oidc.IDToken, error) {
	if jws.CheckHeader(raw) != nil {
		return nil, newRefusal("sso-token", fault.Denied, "The provider's ID token is invalid.")
	}
	token, err := p.Verifier(&oidc.Config{ClientID: settings.ClientID, Now: s.now}).Verify(ctx, raw)
	if err != nil {
		return nil, s.explainInvalid(ctx, p, settings, raw, err)
	}
	var azp struct {
		Party *string  `json:"azp"`
		At    *float64 `json:"auth_time"` // a JSON number (OpenID Connect Core section 2), with fractions at some providers
	}
	if err := token.Claims(&azp); err != nil {
		return nil, newRefusal("sso-token", fault.Upstream, "The provider's data about you can't be read.")
	}
	switch {
	case len(token.Audience) > 1 && azp.Party == nil, azp.Party != nil && *azp.Party != settings.ClientID:
		return nil, newRefusal("sso-azp", fault.Denied, "The provider's ID token is for another client (azp). Start again.")
	case token.IssuedAt.IsZero() || token.IssuedAt.After(s.now().Add(clockSkew)):
		return nil, newRefusal("sso-iat", fault.Denied, "The provider's ID token is from the future (iat). The provider's clock or ours is wrong.")
	case token.IssuedAt.Before(want.since.Add(-clockSkew)):
		return nil, newRefusal("sso-old", fault.Denied, "The provider's ID token is older than your sign-in (iat). Start again.")
	case !equalText(token.Nonce, want.nonce):
		return nil, newRefusal("sso-nonce", fault.Denied, "The provider's ID token belongs to another sign-in (nonce). Start again.")
	// With max_age, auth_time is required (OpenID Connect Core section 3.1.2.1), but some large providers omit
	// it. Their response is new nevertheless, from a browser in which the person is signed in there; a stolen
	// session of ours has none.
	case want.anew && azp.At != nil && time.Unix(int64(*azp.At), 0).Before(want.since.Add(-clockSkew)):
		return nil, newRefusal("sso-not-anew", fault.Denied, "The provider reused an earlier sign-in (auth_time). Sign out there and start again.")
	case token.Subject == "" || len(token.Subject) > 255:
		return nil, newRefusal("sso-sub", fault.Upstream, "The provider's ID token has no valid subject (sub).")
	}
	return token, nil
}

// explainInvalid returns which of the library's checks failed.
func (s *Service) explainInvalid(ctx context.Context, p *provider, settings connectors.SSO, raw string, cause error) error {
	if _, ok := errors.AsType[*oidc.TokenExpiredError](cause); ok {
		return newRefusal("sso-expired", fault.Denied, "The provider's ID token has expired (exp). Start again; if this persists, the provider's clock or ours is wrong.")
	}
	signed := &oidc.Config{SkipClientIDCheck: true, SkipExpiryCheck: true, SkipIssuerCheck: true, Now: s.now}
	token, err := p.Verifier(signed).Verify(ctx, raw)
	switch {
	case err != nil:
		return newRefusal("sso-signature", fault.Denied, "The provider's ID token isn't signed with the provider's key.")
	case token.Issuer != settings.Issuer:
		return newRefusal("sso-issuer", fault.Denied, "The provider's ID token is from another provider (iss).")
	case !slices.Contains(token.Audience, settings.ClientID):
		return newRefusal("sso-audience", fault.Denied, "The provider's ID token is for another client (aud).")
	}
	return newRefusal("sso-token", fault.Denied, "The provider's ID token is invalid.")
}

// idClaims are the claims in use.
type idClaims struct {
	Subject  string          `json:"sub"`
	Email    string          `json:"email"`
	Verified json.RawMessage `json:"email_verified"`
	Name     string          `json:"name"`
}

// identifyPerson reads the token's claims, and asks the UserInfo endpoint for missing ones: many providers keep
// addresses and groups out of tokens.
func (s *Service) identifyPerson(ctx context.Context, p *provider, settings connectors.SSO, token *oidc.IDToken, tokens *oauth2.Token) (identity, error) {
	var who idClaims
	all := map[string]json.RawMessage{}
	if token.Claims(&who) != nil || token.Claims(&all) != nil {
		return identity{}, newRefusal("sso-token", fault.Upstream, "The provider's data about you can't be read.")
	}
	_, grouped := all[settings.GroupsClaim]
	if (who.Email == "" || !grouped) && p.UserInfoEndpoint() != "" && tokens.AccessToken != "" {
		if err := s.fetchUserInfo(ctx, p, settings.Issuer, tokens, &who, all); err != nil {
			return identity{}, err
		}
	}
	return newIdentity(settings, store.SSOSubject{Issuer: token.Issuer, ID: token.Subject}, who, all)
}

// newIdentity returns the identity of a subject by its claims.
func newIdentity(settings connectors.SSO, subject store.SSOSubject, who idClaims, all map[string]json.RawMessage) (identity, error) {
	groups, said := parseGroups(all[settings.GroupsClaim])
	found := identity{Subject: subject, Email: auth.NormalizeEmail(who.Email), Name: who.Name, Groups: groups}
	switch {
	case who.Subject != subject.ID:
		return identity{}, newRefusal("sso-sub", fault.Denied, "The provider's response identifies two different people. Start again.")
	case connectors.EmailDomain(found.Email) == "":
		return found, newRefusal("sso-no-email", fault.Upstream, "The provider didn't send your email address. Its client needs the email scope.")
	case isUnusualEmail(found.Email):
		found.Email = "" // not to be audited
		return found, newRefusal("sso-odd-email", fault.Upstream, "The provider sent an invalid email address: over 254 characters, or with white space or invisible characters. Have it corrected there and sign in again.")
	case !isTrueJSON(who.Verified):
		return found, newRefusal("sso-unverified", fault.Denied, "The provider hasn't verified your email address (email_verified). Verify it there and sign in again.")
	case settings.Governs() && !said:
		return found, newRefusal("sso-groups", fault.Upstream, "The provider didn't send your groups as a list of names in the claim set here. Its administrator can add them.")
	}
	return found, nil
}

// maxEmailLength is the longest address in characters (RFC 3696, erratum 1690).
const maxEmailLength = 254

// isUnusualEmail reports whether no account can have the address: the database refuses it without an
// explanation for people.
func isUnusualEmail(email string) bool {
	return utf8.RuneCountInString(email) > maxEmailLength || strings.ContainsFunc(email, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Cf, r)
	})
}

// fetchUserInfo adds the claims of the UserInfo endpoint (OpenID Connect Core section 5.3).
func (s *Service) fetchUserInfo(ctx context.Context, p *provider, issuer string, tokens *oauth2.Token, who *idClaims, all map[string]json.RawMessage) error {
	if _, err := s.checkURL(asciiURL(p.UserInfoEndpoint())); err != nil {
		return newUnreachable(issuer, err)
	}
	info, err := p.UserInfo(ctx, oauth2.StaticTokenSource(tokens))
	if err != nil {
		return newUnreachable(issuer, err)
	}
	var said idClaims
	if info.Claims(&said) != nil || info.Claims(&all) != nil {
		return newRefusal("sso-token", fault.Upstream, "The provider's data about you can't be read.")
	}
	if said.Subject != who.Subject { // OpenID Connect Core §5.3.2
		return newRefusal("sso-sub", fault.Denied, "The provider's response identifies two different people. Start again.")
	}
	if who.Email == "" { // address and email_verified must be of one response
		who.Email, who.Verified = said.Email, said.Verified
	}
	who.Name = cmp.Or(who.Name, said.Name)
	return nil
}

// isTrueJSON reports whether a claim is true; some providers send it as a string.
func isTrueJSON(raw json.RawMessage) bool { return string(raw) == "true" || string(raw) == `"true"` }

// parseGroups reads a list of names, or one name. ok is false for a missing or malformed claim, which says
// nothing about roles.
func parseGroups(raw json.RawMessage) (groups []string, ok bool) {
	if json.Unmarshal(raw, &groups) == nil {
		return groups, groups != nil && len(groups) <= maxClaims
	}
	var one string
	if json.Unmarshal(raw, &one) == nil && one != "" {
		return []string{one}, true
	}
	return nil, false
}
