package oauth

import "golang.org/x/oauth2"

// PKCE binds the token request to the authorization request (RFC 7636), by S256 only.
type PKCE struct {
	Verifier  Secret // sealed until the exchange
	Challenge string // sent through the browser
}

// NewPKCE makes a verifier of 256 random bits and its challenge.
func NewPKCE() PKCE {
	verifier := oauth2.GenerateVerifier()
	return PKCE{Verifier: Secret(verifier), Challenge: oauth2.S256ChallengeFromVerifier(verifier)}
}
