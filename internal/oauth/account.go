package oauth

import (
	"encoding/base64"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxAccount is the length of an account's name, in characters: it is shown in a line of a list.
const maxAccount = 200

// accountOf reads who an id_token is about; empty where it does not say so in plain text. Its signature is not checked: it came
// from the token endpoint itself (OpenID Connect Core §3.1.3.7), and the name is shown to people, not relied on.
func accountOf(idToken string) string {
	parts := strings.Split(idToken, ".")
	if len(parts) != 3 || len(idToken) > maxTokenLength {
		return ""
	}
	payload, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(parts[1], "="))
	if err != nil {
		return ""
	}
	claims, ok := readObject(payload)
	if !ok {
		return ""
	}
	for _, name := range []string{"email", "preferred_username", "name"} {
		if account := strings.TrimSpace(claims.text(name)); account != "" && isPlain(account) {
			return account
		}
	}
	return ""
}

// isPlain tells whether a text can stand in a list as it is: no control characters, no marks that turn the direction.
func isPlain(s string) bool {
	return utf8.ValidString(s) && utf8.RuneCountInString(s) <= maxAccount &&
		!strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) || r == utf8.RuneError })
}
