package connectors

import (
	"encoding/json"
	"fmt"
	"strings"

	"golang.org/x/net/http/httpguts"

	"patchbay/internal/fault"
	"patchbay/internal/secret"
)

// MaxSecret is the size of the largest part of a secret, in bytes. Servers refuse headers far smaller than this.
const MaxSecret = 16 << 10

// Secret is what a person or a program enters to authenticate a connector. Which fields count depends on the auth type; the
// others must be empty.
type Secret struct {
	Token    secret.Text // bearer
	Key      secret.Text // api_key
	Username string      // basic
	Password secret.Text // basic
}

// Empty tells whether nothing was entered.
func (s Secret) Empty() bool { return s == Secret{} }

// Normalized drops the white space that pasting a token leaves around it.
func (s Secret) Normalized() Secret {
	s.Token = secret.Text(strings.TrimSpace(s.Token.Reveal()))
	s.Key = secret.Text(strings.TrimSpace(s.Key.Reveal()))
	return s
}

// Account says who the secret is, where that can be told without telling the secret.
func (s Secret) Account() string { return s.Username }

// Validate tells what is wrong with s as the secret of auth type t. Locations begin with prefix ("auth." where the fields
// stand in a connector's document).
func (s Secret) Validate(t AuthType, prefix string) []fault.Field {
	var c check
	for _, f := range s.fields() {
		switch {
		case f.of != t && f.value != "":
			c.refuse(prefix+f.name, "Authentication %q takes no %s.", t, f.name)
		case f.of != t:
		case f.value == "" && f.name != "password": // a user name alone is how some servers take an API key
			c.refuse(prefix+f.name, "A %s is needed.", f.label)
		default:
			c.secretValue(prefix+f.name, f)
		}
	}
	return c.fields
}

// refused tells what is wrong with s where no secret may be given at all.
func (s Secret) refused(prefix, because string) []fault.Field {
	var c check
	for _, f := range s.fields() {
		if f.value != "" {
			c.refuse(prefix+f.name, "%s", because)
		}
	}
	return c.fields
}

type secretField struct {
	name, label string
	of          AuthType
	value       string
}

func (s Secret) fields() []secretField {
	return []secretField{
		{"token", "token", AuthBearer, s.Token.Reveal()},
		{"key", "key", AuthAPIKey, s.Key.Reveal()},
		{"username", "user name", AuthBasic, s.Username},
		{"password", "password", AuthBasic, s.Password.Reveal()},
	}
}

func (c *check) secretValue(location string, f secretField) {
	switch {
	case len(f.value) > MaxSecret:
		c.refuse(location, "A %s has at most %d bytes.", f.label, MaxSecret)
	case f.of == AuthBasic && !plainText(f.value, ""):
		c.refuse(location, "A %s holds no control characters.", f.label)
	case f.name == "username" && strings.Contains(f.value, ":"):
		c.refuse(location, "A user name holds no colon.") // RFC 7617 §2: the first colon ends it
	case f.of != AuthBasic && !visibleASCII(f.value):
		c.refuse(location, "A %s holds visible ASCII characters only.", f.label)
	case f.name == "token" && len(f.value) >= 7 && strings.EqualFold(f.value[:7], "bearer "):
		c.refuse(location, "Enter the token alone, without the word Bearer.")
	}
}

// visibleASCII tells whether s can stand in a header as it is.
func visibleASCII(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return httpguts.ValidHeaderFieldValue(s)
}

// sealedSecret is the JSON form of a Secret under its seal. The names are stored: they never change.
type sealedSecret struct {
	Token    string `json:"token,omitempty"`
	Key      string `json:"key,omitempty"`
	Username string `json:"username,omitempty"`
	Password string `json:"password,omitempty"`
}

// Encode writes s as one text, to be sealed.
func (s Secret) Encode() (secret.Text, error) {
	b, err := json.Marshal(sealedSecret{s.Token.Reveal(), s.Key.Reveal(), s.Username, s.Password.Reveal()})
	if err != nil {
		return "", fmt.Errorf("encode a secret: %w", err)
	}
	return secret.Text(b), nil
}

// DecodeSecret reads what Encode wrote.
func DecodeSecret(t secret.Text) (Secret, error) {
	var p sealedSecret
	if err := json.Unmarshal([]byte(t.Reveal()), &p); err != nil {
		return Secret{}, fmt.Errorf("decode a secret: its form is unknown") // the cause could quote the secret
	}
	return Secret{secret.Text(p.Token), secret.Text(p.Key), p.Username, secret.Text(p.Password)}, nil
}
