package credentials

import (
	"encoding/base64"
	"fmt"
	"net/http"

	"patchbay/internal/connectors"
	"patchbay/internal/oauth"
	"patchbay/internal/secret"
	"patchbay/internal/store"
)

// Header is one authentication header. Of an HTTP API it may be a query parameter or a cookie.
type Header struct {
	Name  string
	Value secret.Text
	In    connectors.KeyIn
	// Proof is the key that proves possession of the token in Value for each request ([oauth.ProofKey.Client]); nil: none.
	Proof *oauth.ProofKey
}

// Apply sets the headers in h. It leaves out query parameters and cookies.
func Apply(h http.Header, headers []Header) {
	for _, header := range headers {
		if header.In == connectors.KeyInHeader {
			h.Set(header.Name, header.Value.Reveal())
		}
	}
}

// Headers returns the headers of a static secret. Types that use access tokens have none.
func Headers(a connectors.Auth, s connectors.Secret) ([]Header, error) {
	switch a.Type {
	case connectors.AuthNone:
		return nil, nil
	case connectors.AuthBearer:
		return bearerHeaders(s.Token), nil
	case connectors.AuthAPIKey:
		name := a.Header
		if name == "" {
			name = connectors.DefaultAPIKeyHeader
		}
		return []Header{{Name: name, Value: s.Key, In: a.In}}, nil
	case connectors.AuthBasic:
		// RFC 7617 section 2, in UTF-8
		pair := base64.StdEncoding.EncodeToString([]byte(s.Username + ":" + s.Password.Reveal()))
		return []Header{{Name: "Authorization", Value: secret.Text("Basic " + pair)}}, nil
	default:
		return nil, fmt.Errorf("write the header of auth type %q: not known", a.Type)
	}
}

// ProvingClient returns a client that adds the proofs that headers need; c: none does.
func ProvingClient(c *http.Client, headers []Header) *http.Client {
	for _, header := range headers {
		if header.Proof != nil {
			return header.Proof.Client(c, nil)
		}
	}
	return c
}

// tokenHeaders is the header of an access token, with its key if it is bound to one (RFC 9449 section 7.1).
func tokenHeaders(tokens store.GrantTokens) ([]Header, error) {
	if !tokens.Bound {
		return bearerHeaders(tokens.AccessToken), nil
	}
	key, err := proofKey(tokens)
	if err != nil {
		return nil, err
	}
	return []Header{{Name: "Authorization", Value: "DPoP " + tokens.AccessToken, Proof: key}}, nil
}

// bearerHeaders is the header of a token (RFC 6750 section 2.1).
func bearerHeaders(token secret.Text) []Header {
	return []Header{{Name: "Authorization", Value: "Bearer " + token}}
}
