package oauth

import "golang.org/x/oauth2"

// PKCE binds the token request to the authorization request (RFC 7636), by S256 only.
type PKCE struct {
	Verifier  Secret // kept sealed until the exchange
	Challenge string // goes through the browser
}

// NewPKCE makes a pair of 256 random bits.
func NewPKCE() PKCE {
	verifier := oauth2.GenerateVerifier()
	return PKCE{Verifier: Secret(verifier), Challenge: oauth2.S256ChallengeFromVerifier(verifier)}
}
