package oauth

import (
	"strings"
	"time"
)

// AssumedLife is the assumed lifetime of an access token without expires_in.
const AssumedLife = time.Hour

const maxTokenLength = 256 << 10

// Token is a token response.
type Token struct {
	AccessToken Secret
	// RefreshToken is empty if the response has none; after a refresh the old one stays valid (RFC 6749 section
	// 6).
	RefreshToken Secret
	// Proof is the key to which the tokens are bound (RFC 9449); nil: to none. The access token is of the DPoP scheme then, else
	// of the Bearer scheme.
	Proof     *ProofKey
	ExpiresAt time.Time
	// ExpiryAssumed: without expires_in, ExpiresAt is AssumedLife from now, and a 401 corrects it.
	ExpiryAssumed bool
	// Scopes are the granted scopes; nil: as requested (RFC 6749 section 5.1).
	Scopes []string
	// Identity is the account by the id_token, without its issuer.
	Identity Identity
}

// nests are the fields in which some servers nest the token.
var nests = []string{"authed_user", "data", "token", "result", "response"}

// readToken reads a token from an object or a nested one. found is false without one. proof is the key that was shown; nil: none.
func readToken(o jsonObject, now time.Time, proof *ProofKey) (t Token, ok, found bool) {
	if _, here := o["access_token"]; here && o.longTextField("access_token") != "" {
		t, ok = parseToken(o, now, proof)
		return t, ok, true
	}
	for _, name := range nests {
		if inner, is := o.objectField(name); is && inner.longTextField("access_token") != "" {
			t, ok = parseToken(inner, now, proof)
			return t, ok, true
		}
	}
	return Token{}, false, false
}

// parseToken fails if the token cannot be sent as a header, is of another type, or bound to a key that was not shown.
func parseToken(o jsonObject, now time.Time, proof *ProofKey) (Token, bool) {
	t := Token{
		AccessToken:  Secret(o.longTextField("access_token")),
		RefreshToken: Secret(o.longTextField("refresh_token")),
		Scopes:       o.scopeField(),
		Identity:     readIDToken(o.longTextField("id_token")),
	}
	seconds, ok := o.secondsField("expires_in")
	if t.ExpiryAssumed = !ok || seconds <= 0; t.ExpiryAssumed {
		t.ExpiresAt = now.Add(AssumedLife)
	} else {
		const longest = 10 * 365 * 24 * 3600
		t.ExpiresAt = now.Add(time.Duration(min(seconds, longest)) * time.Second)
	}
	switch strings.ToLower(o.textField("token_type")) {
	case "dpop":
		if t.Proof = proof; proof == nil {
			return Token{}, false
		}
	case "mac", "pop", "n_a":
		return Token{}, false
	}
	for _, s := range []Secret{t.AccessToken, t.RefreshToken} {
		if len(s) > maxTokenLength || !isPrintable(s.Reveal()) {
			return Token{}, false
		}
	}
	return t, true
}

// scopeField reads a list, or a text separated by spaces or, as of GitHub and Slack, commas.
func (o jsonObject) scopeField() []string {
	var words []string
	for _, text := range o.textListField("scope") {
		words = append(words, strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == ',' })...)
	}
	return scopeTokens(words)
}
