package oauth

import (
	"encoding/base64"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds of texts about an account, in characters: they are shown in lists. OpenID Connect Core section 2 bounds a subject.
const (
	maxAccount = 200
	maxSubject = 255
)

// Identity is the account that a token is for, as its server states it. All of it is remote text, plain and bounded; empty: unknown.
type Identity struct {
	Issuer         string // of the authorization server that states the rest
	Subject        string
	Name           string // e-mail address, else user name, else full name
	Email          string
	OrganisationID string
	Organisation   string // name of the organisation, else its id
}

// organisationClaims are claims of well-known servers: Auth0 and WorkOS, Microsoft, Slack, Google.
var organisationClaims = struct{ ids, names []string }{
	ids:   []string{"org_id", "organization_id", "tid", "https://slack.com/team_id"},
	names: []string{"org_name", "organization_name", "https://slack.com/team_name", "hd"},
}

// readIDToken reads the account of an id_token; zero without a plain one. The signature is not checked: the token came from
// the token endpoint itself (OpenID Connect Core section 3.1.3.7).
func readIDToken(idToken string) Identity {
	claims, ok := readTokenClaims(idToken)
	if !ok {
		return Identity{}
	}
	return readClaims(claims)
}

// readClaims reads the claims of an id_token or of a userinfo response.
func readClaims(claims jsonObject) Identity {
	i := Identity{
		Subject: claims.plainField(maxSubject, "sub"), Email: claims.plainField(maxAccount, "email"),
		Name:           claims.plainField(maxAccount, "email", "preferred_username", "name"),
		OrganisationID: claims.plainField(maxAccount, organisationClaims.ids...),
	}
	if i.Organisation = claims.plainField(maxAccount, organisationClaims.names...); i.Organisation == "" {
		i.Organisation = i.OrganisationID
	}
	return i
}

// plainField returns the first plain text of these fields, without space around it; empty: none.
func (o jsonObject) plainField(max int, names ...string) string {
	for _, name := range names {
		if text := strings.TrimSpace(o.textField(name)); text != "" && isPlainText(text, max) {
			return text
		}
	}
	return ""
}

// readTokenClaims reads the claims of a JWT, unverified.
func readTokenClaims(token string) (jsonObject, bool) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 || len(token) > maxTokenLength {
		return nil, false
	}
	payload, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(parts[1], "="))
	if err != nil {
		return nil, false
	}
	return readObject(payload)
}

// isPlainText reports whether a text has no control or bidirectional characters, and at most max characters.
func isPlainText(s string, max int) bool {
	return utf8.ValidString(s) && utf8.RuneCountInString(s) <= max &&
		!strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) || r == utf8.RuneError })
}
