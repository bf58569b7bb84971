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

// MaxSecret bounds each part of a secret, in bytes. Servers refuse far smaller headers.
const MaxSecret = 16 << 10

// Secret is a connector's credential as entered. The fields depend on the auth type; others must be empty.
type Secret struct {
	Token    secret.Text // bearer
	Key      secret.Text // api_key
	Username string      // basic
	Password secret.Text // basic

	ClientID     string      // client_credentials and private_key_jwt; empty: the connector's
	ClientSecret secret.Text // client_credentials; oauth2 with a pre-registered client
	PrivateKey   secret.Text // private_key_jwt: PEM

	WorkloadToken string // client_credentials, in place of the secret: name of the operator's token
}

// Empty reports whether nothing was entered.
func (s Secret) Empty() bool { return s == Secret{} }

// Normalized trims white space from pasting.
func (s Secret) Normalized() Secret {
	s.Token = secret.Text(strings.TrimSpace(s.Token.Reveal()))
	s.Key = secret.Text(strings.TrimSpace(s.Key.Reveal()))
	s.ClientID = strings.TrimSpace(s.ClientID)
	s.ClientSecret = secret.Text(strings.TrimSpace(s.ClientSecret.Reveal()))
	s.PrivateKey = secret.Text(strings.TrimSpace(s.PrivateKey.Reveal()))
	s.WorkloadToken = strings.TrimSpace(s.WorkloadToken)
	return s
}

// Account returns the account's name if it is not secret.
func (s Secret) Account() string {
	if s.ClientID != "" {
		return s.ClientID
	}
	return s.Username
}

// Validate returns the invalid fields of s for auth type t. Locations begin with prefix ("auth." in a
// connector's document).
func (s Secret) Validate(t AuthType, prefix string) []fault.Field {
	var c validation
	for _, f := range s.formFields() {
		switch {
		case !slices.Contains(f.of, t) && f.value != "":
			c.addField(prefix+f.name, "Authentication %q takes no %s.", t, f.name)
		case !slices.Contains(f.of, t):
		case f.value == "" && f.missing != "":
			c.addField(prefix+f.name, "%s", f.missing)
		case f.name == "workload_token" && f.value != "" && !s.ClientSecret.Empty():
			c.addField(prefix+f.name, "Enter a client secret or a workload token, not both.")
		default:
			c.secretValue(prefix+f.name, f)
		}
	}
	return c.fields
}

// refuseAll returns all fields that are set, where no secret is allowed.
func (s Secret) refuseAll(prefix, because string) []fault.Field {
	var c validation
	for _, f := range s.formFields() {
		if f.value != "" {
			c.addField(prefix+f.name, "%s", because)
		}
	}
	return c.fields
}

type secretField struct {
	name, label string
	of          []AuthType
	value       string
	missing     string // the error of an empty value; empty: the field is optional
}

func (s Secret) formFields() []secretField {
	basic, needsSecret := []AuthType{AuthBasic}, "Enter the client secret."
	if s.WorkloadToken != "" {
		needsSecret = ""
	}
	return []secretField{
		{name: "token", label: "token", of: []AuthType{AuthBearer}, value: s.Token.Reveal(), missing: "Enter the token."},
		{name: "key", label: "key", of: []AuthType{AuthAPIKey}, value: s.Key.Reveal(), missing: "Enter the key."},
		{name: "username", label: "username", of: basic, value: s.Username, missing: "Enter the username."},
		// Some servers take an API key as the user name alone.
		{name: "password", label: "password", of: basic, value: s.Password.Reveal()},
		{name: "client_id", label: "client id", of: []AuthType{AuthClientCredentials, AuthPrivateKeyJWT}, value: s.ClientID},
		{name: "client_secret", label: "client secret", of: []AuthType{AuthClientCredentials, AuthOAuth2}, value: s.ClientSecret.Reveal(), missing: needsSecret},
		{name: "private_key", label: "private key", of: []AuthType{AuthPrivateKeyJWT}, value: s.PrivateKey.Reveal(), missing: "Enter the private key."},
		{name: "workload_token", label: "workload token", of: []AuthType{AuthClientCredentials}, value: s.WorkloadToken},
	}
}

func (c *validation) secretValue(location string, f secretField) {
	switch {
	case len(f.value) > MaxSecret:
		c.addField(location, "A %s has at most %d bytes.", f.label, MaxSecret)
	case f.name == "private_key":
		c.checkPrivateKey(location, f.value)
	case f.name == "username" && strings.Contains(f.value, ":"):
		c.addField(location, "No colons allowed.") // it ends at the first colon (RFC 7617 section 2)
	case f.name == "username", f.name == "password":
		if !isPlainText(f.value, "") {
			c.addField(location, "A %s can't contain control characters.", f.label)
		}
	case !isVisibleASCII(f.value):
		c.addField(location, "A %s must be visible ASCII.", f.label)
	case f.name == "token" && len(f.value) >= 7 && strings.EqualFold(f.value[:7], "bearer "):
		c.addField(location, "Enter the token without Bearer.")
	}
}

// checkPrivateKey checks the form alone; package oauth checks the algorithm.
func (c *validation) checkPrivateKey(location, value string) {
	block, rest := pem.Decode([]byte(value))
	switch {
	case block == nil || !strings.HasSuffix(block.Type, "PRIVATE KEY"):
		c.addField(location, "Enter a PEM block starting with “-----BEGIN PRIVATE KEY-----”.")
	case strings.Contains(block.Type, "ENCRYPTED"):
		c.addField(location, "Enter the key without its passphrase; we store it encrypted.")
	case strings.TrimSpace(string(rest)) != "":
		c.addField(location, "Enter a single PEM block.")
	}
}

// isVisibleASCII reports whether s is valid in a header.
func isVisibleASCII(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return httpguts.ValidHeaderFieldValue(s)
}

// sealedSecret is the JSON of a sealed Secret. The names are stored and never change.
type sealedSecret struct {
	Token        string `json:"token,omitempty"`
	Key          string `json:"key,omitempty"`
	Username     string `json:"username,omitempty"`
	Password     string `json:"password,omitempty"`
	ClientID     string `json:"client_id,omitempty"`
	ClientSecret string `json:"client_secret,omitempty"`
	PrivateKey   string `json:"private_key,omitempty"`

	WorkloadToken string `json:"workload_token,omitempty"`
}

// Encode returns s as one text to be sealed.
func (s Secret) Encode() (secret.Text, error) {
	b, err := json.Marshal(sealedSecret{
		s.Token.Reveal(), s.Key.Reveal(), s.Username, s.Password.Reveal(), s.ClientID, s.ClientSecret.Reveal(), s.PrivateKey.Reveal(), s.WorkloadToken,
	})
	if err != nil {
		return "", fmt.Errorf("encode a secret: %w", err)
	}
	return secret.Text(b), nil
}

// DecodeSecret decodes the output of Encode.
func DecodeSecret(t secret.Text) (Secret, error) {
	var p sealedSecret
	if err := json.Unmarshal([]byte(t.Reveal()), &p); err != nil {
		return Secret{}, fmt.Errorf("decode a secret: its form is unknown") // the cause could quote the secret
	}
	return Secret{
		Token: secret.Text(p.Token), Key: secret.Text(p.Key), Username: p.Username, Password: secret.Text(p.Password),
		ClientID: p.ClientID, ClientSecret: secret.Text(p.ClientSecret), PrivateKey: secret.Text(p.PrivateKey), WorkloadToken: p.WorkloadToken,
	}, nil
}
