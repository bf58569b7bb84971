package oauth

import (
	"context"
	"net/http"
	"time"
)

// Bounds of what a registration gives: it is stored, and goes into every request.
const (
	maxClientID     = 2048 // bytes; as of an admin's
	maxClientSecret = 16 << 10
)

// Source tells where a client id comes from.
type Source string

// The sources.
const (
	SourceConfigured       Source = "configured"
	SourceMetadataDocument Source = "metadata_document" // the id is the URL of our own document
	SourceDynamic          Source = "dynamic"           // RFC 7591
)

// Registration is a client as one authorization server knows it. It is never shown to another: requests check Issuer.
type Registration struct {
	Issuer       string
	ClientID     string
	ClientSecret Secret      // empty: none
	Key          *PrivateKey // nil: none
	// Method is how the client proves itself; empty: chosen at each request by what the server supports.
	Method AuthMethod
	Source Source
	// SecretExpiresAt is when the secret ends; zero: never, or not said.
	SecretExpiresAt time.Time
}

// RegisterRequest says what is to be registered.
type RegisterRequest struct {
	Server Metadata
	// Configured is the admin's client; without ClientID there is none.
	Configured Registration
	// DocumentURL is where our client metadata document is public; empty, or not an https URL with a path: nowhere.
	DocumentURL  string
	ClientName   string
	ClientURI    string // empty: left out
	RedirectURIs []string
	Scopes       []string // empty: left out
}

// Register finds a client id: the configured one, else our metadata document's URL where the server reads such, else
// a dynamic registration. KindNeedsClientID: there is none of these, and an admin has to enter one.
// KindRefused: the same, since the token endpoint is not of the issuer's origin.
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
		return Registration{}, needsClientID(0, "it offers no registration")
	}
	client, err := c.registerDynamically(ctx, r)
	if err != nil {
		return Registration{}, err
	}
	return client, nil
}

func needsClientID(status int, detail string) *Error {
	return &Error{Step: StepRegister, Kind: KindNeedsClientID, HTTPStatus: status, Detail: detail}
}

func (c *Client) registerDynamically(ctx context.Context, r RegisterRequest) (Registration, *Error) {
	document := registrationDocument(r)
	client, err := c.postRegistration(ctx, r.Server, document)
	if err != nil && err.Kind == KindRejected && err.Code != "invalid_redirect_uri" && document.Scope != "" {
		// Some servers refuse a registration for scopes that they themselves list. None was made, so asking again is safe.
		document.Scope = ""
		client, err = c.postRegistration(ctx, r.Server, document)
	}
	return client, err
}

func (c *Client) postRegistration(ctx context.Context, m Metadata, document ClientDocument) (Registration, *Error) {
	if err := c.checkURL(StepRegister, "registration endpoint", m.RegistrationEndpoint); err != nil {
		return Registration{}, err
	}
	a, err := c.send(ctx, request{step: StepRegister, url: m.RegistrationEndpoint, document: document})
	if err != nil {
		return Registration{}, err
	}
	if !a.ok() {
		return Registration{}, registrationRefusal(a)
	}
	return readRegistration(a, m, document.TokenEndpointAuthMethod)
}

func registrationRefusal(a answer) *Error {
	switch a.status {
	case http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusGone, http.StatusNotImplemented:
		return needsClientID(a.status, "there is nothing at its registration endpoint")
	case http.StatusUnauthorized, http.StatusForbidden:
		return needsClientID(a.status, "it registers only clients that it knows already")
	}
	e := a.refusal(StepRegister)
	if e.Kind == KindUnknownOutcome {
		e.Kind = KindTemporary // a client too many does no harm
	}
	if o, ok := readObject(a.body); ok && a.status < 500 && e.Kind != KindTemporary && a.status >= 400 {
		e.Code, e.Kind = knownCode(o.text("error"))
	}
	return e
}

// readRegistration reads RFC 7591 §3.2.1. asked is the method that we registered for: a server may grant another.
func readRegistration(a answer, m Metadata, asked AuthMethod) (Registration, *Error) {
	broken := &Error{Step: StepRegister, Kind: KindProtocol, HTTPStatus: a.status}
	o, ok := readObject(a.body)
	if !ok {
		broken.Detail = "answered with " + readFailure(a)
		return Registration{}, broken
	}
	client := Registration{
		Issuer: m.Issuer, Source: SourceDynamic,
		ClientID: o.longText("client_id"), ClientSecret: Secret(o.longText("client_secret")),
		Method: AuthMethod(o.text("token_endpoint_auth_method")),
	}
	if !isPrintable(client.ClientID) || !isPrintable(client.ClientSecret.Reveal()) {
		broken.Detail = "gave a client id or secret with characters that are not printable"
		return Registration{}, broken
	}
	if len(client.ClientID) > maxClientID || len(client.ClientSecret) > maxClientSecret {
		broken.Detail = "gave a client id or secret that is longer than we take"
		return Registration{}, broken
	}
	if client.ClientID == "" {
		if code := o.text("error"); code != "" {
			broken.Code, broken.Kind = knownCode(code)
			return Registration{}, broken
		}
		broken.Detail = "gave no client id"
		return Registration{}, broken
	}
	if at, ok := o.seconds("client_secret_expires_at"); ok && at > 0 {
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
	return "" // a secret that was not asked for: by what the server supports
}

// isPrintable tells whether a text is VSCHAR only (RFC 6749, appendix A).
func isPrintable(s string) bool {
	for _, c := range []byte(s) {
		if c < ' ' || c > '~' {
			return false
		}
	}
	return true
}
