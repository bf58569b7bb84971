package oauth

import (
	"encoding/base64"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxAccount bounds an account's name in characters: it is shown in a list.
const maxAccount = 200

// accountFrom reads the account of an id_token; empty without a plain one. The signature is not checked: the
// token came from the token endpoint itself (OpenID Connect Core section 3.1.3.7), and the name is only shown.
func accountFrom(idToken string) string {
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
		if account := strings.TrimSpace(claims.textField(name)); account != "" && isPlainText(account) {
			return account
		}
	}
	return ""
}

// isPlainText reports whether a text has no control or bidirectional characters.
func isPlainText(s string) bool {
	return utf8.ValidString(s) && utf8.RuneCountInString(s) <= maxAccount &&
		!strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) || r == utf8.RuneError })
}
