package clientconfig

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"patchbay/internal/connectors"
	"patchbay/internal/secret"
)

// readAuth sets the authentication: stated by auth or oauth, else found in a header.
func (r *serverReader) readAuth() {
	if r.command != "" && r.URL == "" {
		return
	}
	credential, rest := r.credentialHeader()
	if credential != nil {
		r.setHeaderAuth(*credential)
	}
	r.setPlainHeaders(rest)
	if n, ok := r.fields["auth"]; ok && !n.isNull() {
		r.readAuthField(n)
	}
	if n, ok := r.fields["oauth"]; ok && n.isKind('{') {
		fields := n.fields()
		id, clientSecret := "clientId", "clientSecret" // Claude Code, Gemini
		if _, codex := fields["client_id"]; codex {
			id, clientSecret = "client_id", "client_secret"
		}
		r.readOAuthClient("oauth", fields, id, clientSecret)
	}
}

// credentialHeader picks the one header that authenticates. A second one is refused: it would be stored in
// plain text.
func (r *serverReader) credentialHeader() (picked *header, rest []header) {
	var secrets []header
	for _, h := range r.headers {
		switch {
		case strings.EqualFold(h.name, "cookie"):
			r.addProblem(h.location(), "Patchbay doesn't send cookies. Use a token or key if possible.")
		case h.looksSecret() || slices.Contains(r.secretHeaders, h.name):
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
			r.addProblem(h.location(), fmt.Sprintf("Looks like a second secret besides %s. A connector has one credential; everyone can read its other headers.", secrets[best].name))
		}
	}
	return &secrets[best], rest
}

func (r *serverReader) setHeaderAuth(h header) {
	value := strings.TrimSpace(h.value)
	called, missing := parsePlaceholder(afterScheme(value))
	if !missing {
		called, missing = parsePlaceholder(value)
	}
	c := &authClaim{auth: connectors.Auth{Type: connectors.AuthAPIKey, Header: h.name}, isFirm: !missing}
	authorization := strings.EqualFold(h.name, "authorization")
	switch {
	case authorization && (authScheme(value) == "bearer" || missing && authScheme(value) == ""):
		c.auth = connectors.Auth{Type: connectors.AuthBearer}
	case authorization && authScheme(value) == "basic":
		c.auth = connectors.Auth{Type: connectors.AuthBasic}
	}
	r.auth = c
	if missing {
		r.Placeholder = called
		return
	}
	r.setHeaderSecret(h, c.auth.Type, value)
}

func (r *serverReader) setHeaderSecret(h header, t connectors.AuthType, value string) {
	after := afterScheme(value)
	switch t {
	case connectors.AuthBearer:
		r.Secret.Token = secret.Text(after)
		r.auth.isFirm = after != ""
	case connectors.AuthBasic:
		pair, err := base64.StdEncoding.DecodeString(after)
		username, password, found := strings.Cut(string(pair), ":")
		if err != nil || !found {
			r.addProblem(h.location(), "After Basic, use base64 of user:password (RFC 7617).")
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

// authDocument is auth in the form of the JSON API and of [Write].
type authDocument struct {
	connectors.OAuthSettings
	Type         string `json:"type"`
	Header       string `json:"header"`
	In           string `json:"in"`
	Token        string `json:"token"`
	Key          string `json:"key"`
	Username     string `json:"username"`
	Password     string `json:"password"`
	ClientSecret string `json:"client_secret"`
	PrivateKey   string `json:"private_key"`
}

var authTypes = []string{"none", "bearer", "api_key", "basic", "oauth2", "client_credentials", "private_key_jwt"}

// readAuthField reads auth: in Patchbay's form if it has one of its types, in Cursor's if it has a CLIENT_ID.
func (r *serverReader) readAuthField(n node) {
	fields := n.fields()
	if _, cursors := fields["CLIENT_ID"]; cursors {
		r.readOAuthClient("auth", fields, "CLIENT_ID", "CLIENT_SECRET")
		return
	}
	if word, ok := n.stringValue(); ok && strings.EqualFold(word, "oauth") {
		r.setClaim(&authClaim{auth: connectors.Auth{Type: connectors.AuthOAuth2}, isFirm: true})
		return
	}
	var doc authDocument
	err := json.Unmarshal(n.raw, &doc)
	switch {
	case err != nil:
		r.addProblem("auth", "Unsupported authentication.") // the cause could quote a secret
		return
	case !slices.Contains(authTypes, doc.Type):
		r.addProblem("auth.type", "Use one of "+strings.Join(authTypes, ", ")+".")
		return
	}
	if called, missing := doc.dropPlaceholders(); missing {
		r.Placeholder = called
	}
	if r.setClaim(&authClaim{auth: connectors.Auth{Type: connectors.AuthType(doc.Type), Header: doc.Header, In: connectors.KeyIn(doc.In)}, oauth: doc.OAuthSettings, isFirm: true}) {
		r.mergeSecret(connectors.Secret{
			Token: secret.Text(doc.Token), Key: secret.Text(doc.Key), Username: doc.Username, Password: secret.Text(doc.Password),
			ClientSecret: secret.Text(doc.ClientSecret), PrivateKey: secret.Text(doc.PrivateKey),
		})
	}
}

// dropPlaceholders clears the whole secret if a part of it is a placeholder.
func (d *authDocument) dropPlaceholders() (called string, missing bool) {
	parts := []*string{&d.Token, &d.Key, &d.Password, &d.ClientSecret, &d.PrivateKey, &d.Username}
	for _, part := range parts {
		if called, missing = parsePlaceholder(*part); missing {
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

// readOAuthClient reads a pre-registered OAuth client; secretName is the field of its secret.
func (r *serverReader) readOAuthClient(location string, fields map[string]node, id, secretName string) {
	c := &authClaim{auth: connectors.Auth{Type: connectors.AuthOAuth2}, isFirm: true}
	read := func(name string) string {
		n, ok := fields[name]
		if !ok || n.isNull() {
			return ""
		}
		s, ok := n.stringValue()
		if !ok {
			r.addProblem(location+"."+name, "Must be a string.")
		}
		return s
	}
	for name, n := range fields {
		if !slices.Contains([]string{id, secretName, "scopes", "enabled"}, name) && !n.isUnset() {
			r.ignored = append(r.ignored, location+"."+name)
		}
	}
	c.oauth.ClientID = read(id)
	clientSecret := read(secretName)
	if n, ok := fields["scopes"]; ok {
		c.oauth.Scopes, _ = n.stringList()
	}
	if _, missing := parsePlaceholder(c.oauth.ClientID); missing {
		c.oauth.ClientID, clientSecret = "", "" // Patchbay can register itself
	}
	if _, missing := parsePlaceholder(clientSecret); missing {
		clientSecret = ""
	}
	if r.setClaim(c) {
		r.mergeSecret(connectors.Secret{ClientSecret: secret.Text(clientSecret)})
	}
}

// setClaim sets stated authentication over what a header told. A secret in a header must be of the same type.
func (r *serverReader) setClaim(c *authClaim) bool {
	told := r.auth
	same := told != nil && told.auth.Type == c.auth.Type
	if told != nil && !same && !r.Secret.Empty() {
		r.addProblem("auth", "This conflicts with the headers. Remove one.")
		return false
	}
	if same && c.auth.Header == "" {
		c.auth.Header = told.auth.Header
	}
	r.auth = c
	return true
}

func (r *serverReader) mergeSecret(s connectors.Secret) {
	if !s.Empty() {
		r.Secret, r.Placeholder = s, ""
	}
}
