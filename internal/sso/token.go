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
	"patchbay/internal/store"
)

const (
	clockSkew = time.Minute // between the provider and us
	maxClaims = 1000        // groups of a person
)

// identity is who signed in, as the provider says.
type identity struct {
	Subject store.SSOSubject
	Email   string
	Name    string
	Groups  []string
}

// expected is what an id token must answer to.
type expected struct {
	nonce string
	since time.Time
	anew  bool // the person has proved who they are since then, whatever the provider remembered
}

// verify holds an id token against OpenID Connect Core §3.1.3.7: go-oidc the signature, iss, aud and exp, what follows the rest.
func (s *Service) verify(ctx context.Context, p *provider, settings connectors.SSO, raw string, want expected) (*oidc.IDToken, error) {
	token, err := p.Verifier(&oidc.Config{ClientID: settings.ClientID, Now: s.now}).Verify(ctx, raw)
	if err != nil {
		return nil, s.whyNot(ctx, p, settings, raw, err)
	}
	var azp struct {
		Party *string  `json:"azp"`
		At    *float64 `json:"auth_time"` // a JSON number (OpenID Connect Core §2); some have fractions
	}
	if err := token.Claims(&azp); err != nil {
		return nil, refuse("sso-token", fault.Upstream, "What the provider says of you cannot be read.")
	}
	switch {
	case len(token.Audience) > 1 && azp.Party == nil, azp.Party != nil && *azp.Party != settings.ClientID:
		return nil, refuse("sso-azp", fault.Denied, "The provider's answer was made for another program (azp). Begin again.")
	case token.IssuedAt.IsZero() || token.IssuedAt.After(s.now().Add(clockSkew)):
		return nil, refuse("sso-iat", fault.Denied, "The provider's answer says that it was made in the future (iat). The clocks differ: the provider's, or this server's.")
	case token.IssuedAt.Before(want.since.Add(-clockSkew)):
		return nil, refuse("sso-old", fault.Denied, "The provider's answer is older than your sign-in (iat). Begin again.")
	case !sameText(token.Nonce, want.nonce):
		return nil, refuse("sso-nonce", fault.Denied, "The provider's answer belongs to another sign-in (nonce). Begin again.")
	// OpenID Connect Core §3.1.2.1 wants auth_time, since max_age was asked for; some large providers never say it. Their answer is new all the
	// same, and comes from a browser in which the person is known to them: whoever stole a session of ours has none.
	case want.anew && azp.At != nil && time.Unix(int64(*azp.At), 0).Before(want.since.Add(-clockSkew)):
		return nil, refuse("sso-not-anew", fault.Denied, "The provider did not ask you again: it says that you signed in earlier (auth_time). Sign out there, and begin again.")
	case token.Subject == "" || len(token.Subject) > 255:
		return nil, refuse("sso-sub", fault.Upstream, "The provider does not say who you are: its answer has no subject (sub).")
	}
	return token, nil
}

// whyNot says which of the library's checks an id token failed.
func (s *Service) whyNot(ctx context.Context, p *provider, settings connectors.SSO, raw string, cause error) error {
	if _, ok := errors.AsType[*oidc.TokenExpiredError](cause); ok {
		return refuse("sso-expired", fault.Denied, "The provider's answer has expired (exp). Begin again; if it stays so, the clocks differ: the provider's, or this server's.")
	}
	signed := &oidc.Config{SkipClientIDCheck: true, SkipExpiryCheck: true, SkipIssuerCheck: true, Now: s.now}
	token, err := p.Verifier(signed).Verify(ctx, raw)
	switch {
	case err != nil:
		return refuse("sso-signature", fault.Denied, "The provider's answer is not signed by a key of the provider.")
	case token.Issuer != settings.Issuer:
		return refuse("sso-issuer", fault.Denied, "The provider's answer was made by another provider (iss).")
	case !slices.Contains(token.Audience, settings.ClientID):
		return refuse("sso-audience", fault.Denied, "The provider's answer was made for another program (aud).")
	}
	return refuse("sso-token", fault.Denied, "The provider's answer does not hold.")
}

// claims are what is read of a person.
type claims struct {
	Subject  string          `json:"sub"`
	Email    string          `json:"email"`
	Verified json.RawMessage `json:"email_verified"`
	Name     string          `json:"name"`
}

// identify reads who a token speaks of. What it does not say the provider is asked: many keep addresses and groups out of tokens.
func (s *Service) identify(ctx context.Context, p *provider, settings connectors.SSO, token *oidc.IDToken, tokens *oauth2.Token) (identity, error) {
	var who claims
	all := map[string]json.RawMessage{}
	if token.Claims(&who) != nil || token.Claims(&all) != nil {
		return identity{}, refuse("sso-token", fault.Upstream, "What the provider says of you cannot be read.")
	}
	_, grouped := all[settings.GroupsClaim]
	if (who.Email == "" || !grouped) && p.UserInfoEndpoint() != "" && tokens.AccessToken != "" {
		if err := s.ask(ctx, p, settings.Issuer, tokens, &who, all); err != nil {
			return identity{}, err
		}
	}
	return identified(settings, store.SSOSubject{Issuer: token.Issuer, ID: token.Subject}, who, all)
}

// identified is who a subject is, of what was said of it.
func identified(settings connectors.SSO, subject store.SSOSubject, who claims, all map[string]json.RawMessage) (identity, error) {
	groups, said := groupsOf(all[settings.GroupsClaim])
	found := identity{Subject: subject, Email: auth.Account(who.Email), Name: who.Name, Groups: groups}
	switch {
	case who.Subject != subject.ID:
		return identity{}, refuse("sso-sub", fault.Denied, "The provider speaks of two persons in one answer. Begin again.")
	case connectors.EmailDomain(found.Email) == "":
		return found, refuse("sso-no-email", fault.Upstream, "The provider does not say your e-mail address. Its client needs the scope email.")
	case odd(found.Email):
		found.Email = "" // nothing of it goes on record
		return found, refuse("sso-odd-email", fault.Upstream, "The provider says an e-mail address that nobody can have: it is longer than 254 characters, or holds white space or characters that are not seen. Have it corrected there, and sign in again.")
	case !isTrue(who.Verified):
		return found, refuse("sso-unverified", fault.Denied, "The provider has not verified your e-mail address (email_verified). Verify it there, and sign in again.")
	case settings.Governs() && !said:
		return found, refuse("sso-groups", fault.Upstream, "The provider does not say your groups as a list of names, under the name that is set here. Whoever runs it adds them to what it tells Patchbay's client.")
	}
	return found, nil
}

// longestEmail is how long an address may be, in characters (RFC 3696, erratum 1690).
const longestEmail = 254

// odd tells of an address that no account here has: the database refuses it, in words for nobody.
func odd(email string) bool {
	return utf8.RuneCountInString(email) > longestEmail || strings.ContainsFunc(email, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Cf, r)
	})
}

// ask adds what the UserInfo endpoint says (OpenID Connect Core §5.3).
func (s *Service) ask(ctx context.Context, p *provider, issuer string, tokens *oauth2.Token, who *claims, all map[string]json.RawMessage) error {
	if _, err := s.checkURL(p.UserInfoEndpoint()); err != nil {
		return unreachable(issuer, err)
	}
	info, err := p.UserInfo(ctx, oauth2.StaticTokenSource(tokens))
	if err != nil {
		return unreachable(issuer, err)
	}
	var said claims
	if info.Claims(&said) != nil || info.Claims(&all) != nil {
		return refuse("sso-token", fault.Upstream, "What the provider says of you cannot be read.")
	}
	if said.Subject != who.Subject { // OpenID Connect Core §5.3.2
		return refuse("sso-sub", fault.Denied, "The provider speaks of two persons in one answer. Begin again.")
	}
	if who.Email == "" { // an address and whether it is verified are of one answer
		who.Email, who.Verified = said.Email, said.Verified
	}
	who.Name = cmp.Or(who.Name, said.Name)
	return nil
}

// isTrue reads a claim that some providers send as text.
func isTrue(raw json.RawMessage) bool { return string(raw) == "true" || string(raw) == `"true"` }

// groupsOf reads a list of names, or one name. Not ok: there is none, or something else in its place, which is no word on who may what.
func groupsOf(raw json.RawMessage) (groups []string, ok bool) {
	if json.Unmarshal(raw, &groups) == nil {
		return groups, groups != nil && len(groups) <= maxClaims
	}
	var one string
	if json.Unmarshal(raw, &one) == nil && one != "" {
		return []string{one}, true
	}
	return nil, false
}
