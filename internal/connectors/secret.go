package connectors

import (
	"encoding/json"
	"encoding/pem"
	"fmt"
	"slices"
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

	ClientID     string      // client_credentials and private_key_jwt: this credential's own; empty: the connector's
	ClientSecret secret.Text // client_credentials; oauth2: of the client that an admin registered by hand
	PrivateKey   secret.Text // private_key_jwt: PEM
}

// Empty tells whether nothing was entered.
func (s Secret) Empty() bool { return s == Secret{} }

// Normalized drops the white space that pasting a token leaves around it.
func (s Secret) Normalized() Secret {
	s.Token = secret.Text(strings.TrimSpace(s.Token.Reveal()))
	s.Key = secret.Text(strings.TrimSpace(s.Key.Reveal()))
	s.ClientID = strings.TrimSpace(s.ClientID)
	s.ClientSecret = secret.Text(strings.TrimSpace(s.ClientSecret.Reveal()))
	s.PrivateKey = secret.Text(strings.TrimSpace(s.PrivateKey.Reveal()))
	return s
}

// Account says who the secret is, where that can be told without telling the secret.
func (s Secret) Account() string {
	if s.ClientID != "" {
		return s.ClientID
	}
	return s.Username
}

// Validate tells what is wrong with s as the secret of auth type t. Locations begin with prefix ("auth." where the fields
// stand in a connector's document).
func (s Secret) Validate(t AuthType, prefix string) []fault.Field {
	var c check
	for _, f := range s.fields() {
		switch {
		case !slices.Contains(f.of, t) && f.value != "":
			c.refuse(prefix+f.name, "Authentication %q takes no %s.", t, f.name)
		case !slices.Contains(f.of, t):
		case f.value == "" && !f.optional:
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
	of          []AuthType
	value       string
	optional    bool
}

func (s Secret) fields() []secretField {
	basic := []AuthType{AuthBasic}
	return []secretField{
		{name: "token", label: "token", of: []AuthType{AuthBearer}, value: s.Token.Reveal()},
		{name: "key", label: "key", of: []AuthType{AuthAPIKey}, value: s.Key.Reveal()},
		{name: "username", label: "user name", of: basic, value: s.Username},
		// A user name alone is how some servers take an API key.
		{name: "password", label: "password", of: basic, value: s.Password.Reveal(), optional: true},
		{name: "client_id", label: "client id", of: []AuthType{AuthClientCredentials, AuthPrivateKeyJWT}, value: s.ClientID, optional: true},
		{name: "client_secret", label: "client secret", of: []AuthType{AuthClientCredentials, AuthOAuth2}, value: s.ClientSecret.Reveal()},
		{name: "private_key", label: "private key", of: []AuthType{AuthPrivateKeyJWT}, value: s.PrivateKey.Reveal()},
	}
}

func (c *check) secretValue(location string, f secretField) {
	switch {
	case len(f.value) > MaxSecret:
		c.refuse(location, "A %s has at most %d bytes.", f.label, MaxSecret)
	case f.name == "private_key":
		c.privateKey(location, f.value)
	case f.name == "username" && strings.Contains(f.value, ":"):
		c.refuse(location, "A user name holds no colon.") // RFC 7617 §2: the first colon ends it
	case f.name == "username", f.name == "password":
		if !plainText(f.value, "") {
			c.refuse(location, "A %s holds no control characters.", f.label)
		}
	case !visibleASCII(f.value):
		c.refuse(location, "A %s holds visible ASCII characters only.", f.label)
	case f.name == "token" && len(f.value) >= 7 && strings.EqualFold(f.value[:7], "bearer "):
		c.refuse(location, "Enter the token alone, without the word Bearer.")
	}
}

// privateKey looks at the form of a key alone: whether it fits its algorithm is for package oauth to say.
func (c *check) privateKey(location, value string) {
	block, rest := pem.Decode([]byte(value))
	switch {
	case block == nil || !strings.HasSuffix(block.Type, "PRIVATE KEY"):
		c.refuse(location, "A private key is a PEM block that begins with “-----BEGIN PRIVATE KEY-----”.")
	case strings.Contains(block.Type, "ENCRYPTED"):
		c.refuse(location, "This private key is locked with a passphrase. Enter it without one; it is stored sealed.")
	case strings.TrimSpace(string(rest)) != "":
		c.refuse(location, "Enter one PEM block, and nothing after it.")
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
	Token        string `json:"token,omitempty"`
	Key          string `json:"key,omitempty"`
	Username     string `json:"username,omitempty"`
	Password     string `json:"password,omitempty"`
	ClientID     string `json:"client_id,omitempty"`
	ClientSecret string `json:"client_secret,omitempty"`
	PrivateKey   string `json:"private_key,omitempty"`
}

// Encode writes s as one text, to be sealed.
func (s Secret) Encode() (secret.Text, error) {
	b, err := json.Marshal(sealedSecret{
		s.Token.Reveal(), s.Key.Reveal(), s.Username, s.Password.Reveal(), s.ClientID, s.ClientSecret.Reveal(), s.PrivateKey.Reveal(),
	})
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
	return Secret{
		Token: secret.Text(p.Token), Key: secret.Text(p.Key), Username: p.Username, Password: secret.Text(p.Password),
		ClientID: p.ClientID, ClientSecret: secret.Text(p.ClientSecret), PrivateKey: secret.Text(p.PrivateKey),
	}, nil
}
