package oauth

import (
	"context"
	"net/http"
	"time"
)

// Bounds of a registration's values: they are stored and sent in every request.
const (
	maxClientID     = 2048 // bytes; as for an admin's client
	maxClientSecret = 16 << 10
)

// Source is the source of a client id.
type Source string

// The sources.
const (
	SourceConfigured       Source = "configured"
	SourceMetadataDocument Source = "metadata_document" // the URL of our document
	SourceDynamic          Source = "dynamic"           // RFC 7591
)

// Registration is our client at one authorization server. It is never sent to another: requests check Issuer.
type Registration struct {
	Issuer       string
	ClientID     string
	ClientSecret Secret      // empty: none
	Key          *PrivateKey // nil: none
	// Method is the client authentication; empty: chosen per request by what the server supports.
	Method AuthMethod
	Source Source
	// SecretExpiresAt is the secret's expiry; zero: never, or unknown.
	SecretExpiresAt time.Time
}

// RegisterRequest describes the client to register.
type RegisterRequest struct {
	Server Metadata
	// Configured is an admin's client; without ClientID there is none.
	Configured Registration
	// DocumentURL is the public URL of our client metadata document; empty, or no https URL with a path: none.
	DocumentURL  string
	ClientName   string
	ClientURI    string // empty: left out
	RedirectURIs []string
	Scopes       []string // empty: left out
}

// Register returns a client: the configured one, else our metadata document if the server supports them, else a
// dynamic registration. It fails with KindNeedsClientID if an admin must enter one, and with KindRefused if the
// token endpoint is outside of the issuer's origin.
func (c *Client) Register(ctx context.Context, r RegisterRequest) (Registration, error) {
	switch {
	case r.Configured.ClientID != "":
		client := r.Configured
		client.Issuer, client.Source = r.Server.Issuer, SourceConfigured
		client.Method = r.Server.authMethod(client)
		return client, nil
	case r.Server.HasForeignTokenEndpoint():
		return Registration{}, ForeignTokenEndpoint(StepRegister, r.Server)
	case r.Server.ClientIDMetadataDocumentSupported && IsDocumentURL(r.DocumentURL):
		return Registration{
			Issuer: r.Server.Issuer, ClientID: r.DocumentURL, Method: AuthNone, Source: SourceMetadataDocument,
		}, nil
	case r.Server.RegistrationEndpoint == "":
		return Registration{}, &Error{Step: StepRegister, Kind: KindNeedsClientID, Detail: "it offers no registration"}
	}
	client, err := c.registerDynamically(ctx, r)
	if err != nil {
		return Registration{}, err
	}
	return client, nil
}

func (c *Client) registerDynamically(ctx context.Context, r RegisterRequest) (Registration, *Error) {
	document := registrationDocument(r)
	client, err := c.postRegistration(ctx, r.Server, document)
	if err != nil && err.Kind == KindRejected && err.Code != "invalid_redirect_uri" && document.Scope != "" {
		// Some servers refuse scopes that they list themselves. Nothing was registered, so a retry is safe.
		document.Scope = ""
		client, err = c.postRegistration(ctx, r.Server, document)
	}
	return client, err
}

func (c *Client) postRegistration(ctx context.Context, m Metadata, document ClientDocument) (Registration, *Error) {
	if err := c.checkURL(StepRegister, "registration endpoint", m.RegistrationEndpoint); err != nil {
		return Registration{}, err
	}
	a, err := c.sendRequest(ctx, httpRequest{step: StepRegister, url: m.RegistrationEndpoint, document: document})
	if err != nil {
		return Registration{}, err
	}
	if !a.isOK() {
		return Registration{}, registrationRefusal(a)
	}
	return readRegistration(a, m, document.TokenEndpointAuthMethod)
}

func registrationRefusal(a httpResponse) *Error {
	e := a.toError(StepRegister)
	switch a.status {
	case http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusGone, http.StatusNotImplemented:
		e.Kind, e.Detail = KindNeedsClientID, "its registration endpoint does not exist"
		return e
	case http.StatusUnauthorized, http.StatusForbidden:
		e.Kind, e.Detail = KindNeedsClientID, "it registers only known clients"
		return e
	}
	if e.Kind == KindUnknownOutcome {
		e.Kind = KindTemporary // a duplicate client is harmless
	}
	if o, ok := readObject(a.body); ok && a.status < 500 && e.Kind != KindTemporary && a.status >= 400 {
		e.Code, e.Kind = knownCode(o.textField("error"))
	}
	return e
}

// readRegistration decodes a response of RFC 7591 section 3.2.1. The server may grant another method than
// asked.
func readRegistration(a httpResponse, m Metadata, asked AuthMethod) (Registration, *Error) {
	broken := &Error{Step: StepRegister, Kind: KindProtocol, HTTPStatus: a.status}
	o, ok := readObject(a.body)
	if !ok {
		broken.Detail = "answered with " + readFailure(a)
		return Registration{}, broken
	}
	client := Registration{
		Issuer: m.Issuer, Source: SourceDynamic,
		ClientID: o.longTextField("client_id"), ClientSecret: Secret(o.longTextField("client_secret")),
		Method: AuthMethod(o.textField("token_endpoint_auth_method")),
	}
	if !isPrintable(client.ClientID) || !isPrintable(client.ClientSecret.Reveal()) {
		broken.Detail = "returned a client id or secret with unprintable characters"
		return Registration{}, broken
	}
	if len(client.ClientID) > maxClientID || len(client.ClientSecret) > maxClientSecret {
		broken.Detail = "returned a client id or secret that is too long"
		return Registration{}, broken
	}
	if client.ClientID == "" {
		if code := o.textField("error"); code != "" {
			broken.Code, broken.Kind = knownCode(code)
			return Registration{}, broken
		}
		broken.Detail = "returned no client id"
		return Registration{}, broken
	}
	if at, ok := o.secondsField("client_secret_expires_at"); ok && at > 0 {
		client.SecretExpiresAt = time.Unix(at, 0)
	}
	client.Method = grantedMethod(client, asked)
	return client, nil
}

func grantedMethod(client Registration, asked AuthMethod) AuthMethod {
	method := client.Method
	if method == "" {
		method = asked
	}
	switch {
	case client.ClientSecret == "":
		return AuthNone
	case method == AuthBasic, method == AuthPost, method == AuthNone && client.Method == AuthNone:
		return method
	}
	return "" // an unsolicited secret: use what the server supports
}

// isPrintable reports whether a text is VSCHAR only (RFC 6749 appendix A).
func isPrintable(s string) bool {
	for _, c := range []byte(s) {
		if c < ' ' || c > '~' {
			return false
		}
	}
	return true
}
