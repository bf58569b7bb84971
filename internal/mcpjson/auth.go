package mcpjson

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"patchbay/internal/connectors"
	"patchbay/internal/secret"
)

// authenticate finds what the server asks for: said outright by auth, or told by a header.
func (r *reading) authenticate() {
	if r.command != "" && r.URL == "" {
		return
	}
	credential, rest := r.credentialHeader()
	if credential != nil {
		r.fromHeader(*credential)
	}
	r.plainHeaders(rest)
	if n, ok := r.fields["auth"]; ok && !n.isNull() {
		r.fromAuth(n)
	}
	if n, ok := r.fields["oauth"]; ok && n.is('{') { // Claude Code, Gemini
		r.fromClient("oauth", n.fields(), "clientId", "clientSecret")
	}
}

// credentialHeader picks the one header that authenticates. A second one is refused: it would be sent, and shown to everybody.
func (r *reading) credentialHeader() (picked *header, rest []header) {
	var secrets []header
	for _, h := range r.headers {
		switch {
		case strings.EqualFold(h.name, "cookie"):
			r.refuse(h.at(), "Patchbay sends no cookies. Use a token or a key, if the server takes one.")
		case h.looksSecret() || slices.Contains(r.secretive, h.name):
			secrets = append(secrets, h)
		default:
			rest = append(rest, h)
		}
	}
	if len(secrets) == 0 {
		return nil, rest
	}
	best := max(0, slices.IndexFunc(secrets, func(h header) bool { return strings.EqualFold(h.name, "authorization") }))
	for i, h := range secrets {
		if i != best {
			r.refuse(h.at(), fmt.Sprintf("This header looks like a second secret beside %s. A connector has one credential, and everyone here can read its other headers.", secrets[best].name))
		}
	}
	return &secrets[best], rest
}

// fromHeader makes a credential of a header.
func (r *reading) fromHeader(h header) {
	value := strings.TrimSpace(h.value)
	called, missing := placeholder(afterScheme(value))
	if !missing {
		called, missing = placeholder(value)
	}
	c := &claim{auth: connectors.Auth{Type: connectors.AuthAPIKey, Header: h.name}, firm: !missing}
	authorization := strings.EqualFold(h.name, "authorization")
	switch {
	case authorization && (scheme(value) == "bearer" || missing && scheme(value) == ""):
		c.auth = connectors.Auth{Type: connectors.AuthBearer}
	case authorization && scheme(value) == "basic":
		c.auth = connectors.Auth{Type: connectors.AuthBasic}
	}
	r.auth = c
	if missing {
		r.Placeholder = called
		return
	}
	r.takeSecret(h, c.auth.Type, value)
}

func (r *reading) takeSecret(h header, t connectors.AuthType, value string) {
	after := afterScheme(value)
	switch t {
	case connectors.AuthBearer:
		r.Secret.Token = secret.Text(after)
		r.auth.firm = after != ""
	case connectors.AuthBasic:
		pair, err := base64.StdEncoding.DecodeString(after)
		username, password, found := strings.Cut(string(pair), ":")
		if err != nil || !found {
			r.refuse(h.at(), "Basic is followed by the base64 of a user name, a colon and a password (RFC 7617), and this is not.")
			return
		}
		r.Secret.Username, r.Secret.Password = username, secret.Text(password)
	default:
		r.Secret.Key = secret.Text(value)
	}
}

func firstWord(s string) string {
	word, _, _ := strings.Cut(strings.TrimSpace(s), " ")
	return word
}

func afterScheme(value string) string {
	return strings.TrimSpace(strings.TrimPrefix(value, firstWord(value)))
}

// authDocument is auth as the JSON API takes it, and as [Write] writes it.
type authDocument struct {
	connectors.OAuthSettings
	Type         string `json:"type"`
	Header       string `json:"header"`
	Token        string `json:"token"`
	Key          string `json:"key"`
	Username     string `json:"username"`
	Password     string `json:"password"`
	ClientSecret string `json:"client_secret"`
	PrivateKey   string `json:"private_key"`
}

var authTypes = []string{"none", "bearer", "api_key", "basic", "oauth2", "client_credentials", "private_key_jwt"}

// fromAuth reads auth, which is ours where it has a type of ours, and Cursor's where it has a CLIENT_ID.
func (r *reading) fromAuth(n node) {
	fields := n.fields()
	if _, cursors := fields["CLIENT_ID"]; cursors {
		r.fromClient("auth", fields, "CLIENT_ID", "CLIENT_SECRET")
		return
	}
	if word, ok := n.text(); ok && strings.EqualFold(word, "oauth") {
		r.claim(&claim{auth: connectors.Auth{Type: connectors.AuthOAuth2}, firm: true})
		return
	}
	var doc authDocument
	err := json.Unmarshal(n.raw, &doc)
	switch {
	case err != nil:
		r.refuse("auth", "This is no authentication as Patchbay has it.") // the cause could quote a secret
		return
	case !slices.Contains(authTypes, doc.Type):
		r.refuse("auth.type", "This must be one of "+strings.Join(authTypes, ", ")+".")
		return
	}
	if called, missing := doc.dropPlaceholders(); missing {
		r.Placeholder = called
	}
	if r.claim(&claim{auth: connectors.Auth{Type: connectors.AuthType(doc.Type), Header: doc.Header}, oauth: doc.OAuthSettings, firm: true}) {
		r.mergeSecret(connectors.Secret{
			Token: secret.Text(doc.Token), Key: secret.Text(doc.Key), Username: doc.Username, Password: secret.Text(doc.Password),
			ClientSecret: secret.Text(doc.ClientSecret), PrivateKey: secret.Text(doc.PrivateKey),
		})
	}
}

// dropPlaceholders forgets the whole secret where a part of it is a placeholder.
func (d *authDocument) dropPlaceholders() (called string, missing bool) {
	parts := []*string{&d.Token, &d.Key, &d.Password, &d.ClientSecret, &d.PrivateKey, &d.Username}
	for _, part := range parts {
		if called, missing = placeholder(*part); missing {
			break
		}
	}
	if missing {
		for _, part := range parts {
			*part = ""
		}
	}
	return called, missing
}

// fromClient reads a client that was registered by hand, under the names that a program has for it.
func (r *reading) fromClient(at string, fields map[string]node, id, secretName string) {
	c := &claim{auth: connectors.Auth{Type: connectors.AuthOAuth2}, firm: true}
	read := func(name string) string {
		n, ok := fields[name]
		if !ok || n.isNull() {
			return ""
		}
		s, ok := n.text()
		if !ok {
			r.refuse(at+"."+name, "This must be a text.")
		}
		return s
	}
	c.oauth.ClientID = read(id)
	clientSecret := read(secretName)
	if n, ok := fields["scopes"]; ok {
		c.oauth.Scopes, _ = n.texts()
	}
	if _, missing := placeholder(c.oauth.ClientID); missing {
		c.oauth.ClientID, clientSecret = "", "" // Patchbay can register itself
	}
	if _, missing := placeholder(clientSecret); missing {
		clientSecret = ""
	}
	if r.claim(c) {
		r.mergeSecret(connectors.Secret{ClientSecret: secret.Text(clientSecret)})
	}
}

// claim sets what is said outright over what a header told. A secret in a header must be of the same kind.
func (r *reading) claim(c *claim) bool {
	told := r.auth
	same := told != nil && told.auth.Type == c.auth.Type
	if told != nil && !same && !r.Secret.Empty() {
		r.refuse("auth", "This and the headers say different things. Leave one of them out.")
		return false
	}
	if same && c.auth.Header == "" {
		c.auth.Header = told.auth.Header
	}
	r.auth = c
	return true
}

func (r *reading) mergeSecret(s connectors.Secret) {
	if !s.Empty() {
		r.Secret, r.Placeholder = s, ""
	}
}
