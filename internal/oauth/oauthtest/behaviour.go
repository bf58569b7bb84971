package oauthtest

// Behaviour says how the server differs from a correct one. The zero value is a correct one: RFC 8414 metadata, dynamic
// registration, S256, secrets by basic or post or none, JSON answers, tokens for an hour, refresh tokens that stay.
type Behaviour struct {
	// IssuerPath makes an issuer with a path, as "/tenant". It counts at Start only.
	IssuerPath string

	// Metadata.
	WellKnown      WellKnown
	DocumentIssuer string             // what the document claims; empty: the truth
	Edit           func(doc Document) // has the last word on the document
	Scopes         []string           // scopes_supported; nil: not said
	AuthMethods    []string           // token_endpoint_auth_methods_supported; nil: basic, post, none, private_key_jwt
	PKCE           []string           // code_challenge_methods_supported; nil: S256
	NoPKCE         bool               // says nothing about PKCE, and checks it all the same

	// Registration.
	NoRegistration       bool // names no endpoint
	RegistrationStatus   int  // answers so in place of registering
	PublicClients        bool // gives no secret
	ClientDocuments      bool // takes https URLs as client ids
	RefuseScopesRegister bool // refuses a registration with scope

	// Authorization.
	Deny         string   // answers with this error in place of a code
	RefuseScopes []string // answers invalid_scope where one of them is asked for
	Iss          Iss

	// Tokens.
	RefuseResource bool // invalid_target where a resource is sent
	NeedResource   bool // invalid_target where none is sent
	Rotate         bool // a refresh token works once; a second use ends the grant
	NoRefreshToken bool
	ExpiresIn      any // in place of 3600: a number, a string; NoExpiresIn: left out
	Answer         Answer
	DPoP           bool     // tokens are bound to the key of a proof (RFC 9449), which is required
	Nonce          string   // that proofs must have; empty: none
	IDToken        Document // claims of an id_token that comes with an access token; nil: none
	Userinfo       Document // claims of the userinfo endpoint, for tokens with the scope openid; nil: no endpoint
	Token          Trouble  // what happens to token requests
	RetryAfter     string   // header with Trouble
	// Hold makes token requests wait until it is closed, after they were counted.
	Hold <-chan struct{}

	NoRevocation bool
}

// Document is a metadata document.
type Document map[string]any

// WellKnown is where metadata stands.
type WellKnown int

// The places.
const (
	AtOAuth          WellKnown = iota // /.well-known/oauth-authorization-server{path}
	AtOpenID                          // /.well-known/openid-configuration{path}
	AtOpenIDAppended                  // {path}/.well-known/openid-configuration
	Nowhere                           // default endpoints only
	AsHTML                            // every place answers 200 with a page
	Failing                           // every place answers 503
)

// Iss is what the callback says about the issuer (RFC 9207).
type Iss int

// The variants.
const (
	IssUnknown    Iss = iota // neither advertised nor sent
	IssRight                 // advertised and sent
	IssWrong                 // advertised, and another one is sent
	IssMissing               // advertised and not sent
	IssUnasked               // sent, not advertised
	IssWrongQuiet            // another one is sent, not advertised
)

// Answer is how a token answer is written.
type Answer int

// The forms.
const (
	JSON       Answer = iota
	Form              // application/x-www-form-urlencoded, as GitHub
	Nested            // {"ok": true, "authed_user": {…}}, as Slack
	NestedData        // {"data": {…}}
	ErrorAs200        // errors come with status 200
)

// NoExpiresIn as ExpiresIn leaves the field out.
const NoExpiresIn = "oauthtest: no expires_in"

// Trouble is what happens to a token request in place of an answer.
type Trouble int

// The troubles.
const (
	NoTrouble       Trouble = iota
	Hang                    // no answer until the client leaves
	Unavailable             // 503
	ServerError             // 500, with an error_description that holds a secret
	TooMany                 // 429
	Reset                   // the connection is reset before anything happened
	DropAfterEffect         // the token is issued and rotated, and the connection is reset before the answer
	Page                    // 200 with HTML
	Redirect                // 307 to Elsewhere
	Endless                 // more bytes than anyone should read
	DeadGrant               // 400 invalid_grant
	DeadClient              // 401 invalid_client
	ForbiddenClient         // 400 unauthorized_client
	Echo                    // 503 with the request's form and Authorization
	DeadEcho                // 400 invalid_grant with the same
)

// Kind is a kind of request.
type Kind string

// The kinds.
const (
	MetadataRequest   Kind = "metadata"
	Register          Kind = "register"
	Authorize         Kind = "authorize"
	Exchange          Kind = "authorization_code"
	Refresh           Kind = "refresh_token"
	ClientCredentials Kind = "client_credentials"
	Revoke            Kind = "revoke"
	Userinfo          Kind = "userinfo"
	Other             Kind = "other"
)
