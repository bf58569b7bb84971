package oauth

import (
	"strings"
	"time"
)

// AssumedLife is how long an access token is taken to live where the server does not say.
const AssumedLife = time.Hour

const maxTokenLength = 256 << 10

// Token is what a token endpoint gave.
type Token struct {
	AccessToken Secret
	// RefreshToken is empty where the answer has none; after a refresh the old one goes on (RFC 6749 §6).
	RefreshToken Secret
	// Type is "Bearer", as it goes into the Authorization header.
	Type      string
	ExpiresAt time.Time
	// ExpiryAssumed: the server did not say how long; ExpiresAt is AssumedLife from now, and a 401 says the truth.
	ExpiryAssumed bool
	// Scopes are what was granted; nil: as asked (RFC 6749 §5.1).
	Scopes []string
	// Account is who it is, as an id_token of the answer says; empty: it does not say. Remote text, plain and short.
	Account string
}

// nests are where servers put the token, when not at the top.
var nests = []string{"authed_user", "data", "token", "result", "response"}

// readToken reads the fields of a token from an object or from one right below it. found is false where there is none.
func readToken(o object, now time.Time) (t Token, ok, found bool) {
	if _, here := o["access_token"]; here && o.longText("access_token") != "" {
		t, ok = tokenOf(o, now)
		return t, ok, true
	}
	for _, name := range nests {
		if inner, is := o.below(name); is && inner.longText("access_token") != "" {
			t, ok = tokenOf(inner, now)
			return t, ok, true
		}
	}
	return Token{}, false, false
}

// tokenOf is not ok where the token cannot be sent in a header, or is of a type that is more than that.
func tokenOf(o object, now time.Time) (Token, bool) {
	t := Token{
		AccessToken:  Secret(o.longText("access_token")),
		RefreshToken: Secret(o.longText("refresh_token")),
		Type:         "Bearer",
		Scopes:       o.scopes(),
		Account:      accountOf(o.longText("id_token")),
	}
	seconds, ok := o.seconds("expires_in")
	if t.ExpiryAssumed = !ok || seconds <= 0; t.ExpiryAssumed {
		t.ExpiresAt = now.Add(AssumedLife)
	} else {
		const longest = 10 * 365 * 24 * 3600
		t.ExpiresAt = now.Add(time.Duration(min(seconds, longest)) * time.Second)
	}
	switch strings.ToLower(o.text("token_type")) {
	case "dpop", "mac", "pop", "n_a":
		return Token{}, false
	}
	for _, s := range []Secret{t.AccessToken, t.RefreshToken} {
		if len(s) > maxTokenLength || !isPrintable(s.Reveal()) {
			return Token{}, false
		}
	}
	return t, true
}

// scopes reads a list, or a text separated by spaces or, as GitHub and Slack write it, commas.
func (o object) scopes() []string {
	var words []string
	for _, text := range o.texts("scope") {
		words = append(words, strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == ',' })...)
	}
	return scopeTokens(words)
}
