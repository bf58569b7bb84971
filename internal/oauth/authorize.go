package oauth

import (
	"net/url"
	"slices"
	"strings"
)

// AuthorizationRequest is what goes into an authorization URL.
type AuthorizationRequest struct {
	Peer
	RedirectURI string
	State       Secret
	Challenge   string // of the PKCE
	Scopes      []string
}

// AuthorizationURL is where a browser asks a person (RFC 6749 §4.1.1). A server that does not promise PKCE is refused,
// unless Metadata says that an admin allowed it.
func (c *Client) AuthorizationURL(r AuthorizationRequest) (string, error) {
	if r.Server.AuthorizationEndpoint == "" {
		return "", &Error{Step: StepAuthorize, Kind: KindProtocol, Detail: "it names no authorization endpoint"}
	}
	if err := c.checkURL(StepAuthorize, "authorization endpoint", r.Server.AuthorizationEndpoint); err != nil {
		return "", err
	}
	if err := r.Server.checkPKCE(); err != nil {
		return "", err
	}
	if r.Client.ClientID == "" {
		return "", &Error{Step: StepAuthorize, Kind: KindNeedsClientID, Detail: "there is no client id"}
	}
	if r.Client.Issuer != "" && r.Client.Issuer != r.Server.Issuer {
		return "", refused(StepAuthorize, "the client belongs to %s, and the request would go to %s",
			shownURL(r.Client.Issuer), shownURL(r.Server.Issuer))
	}
	u, _ := plainURL(r.Server.AuthorizationEndpoint)
	u.RawQuery = r.query(u.Query()).Encode()
	return u.String(), nil
}

// query adds our parameters to those that the endpoint has already. Ours win: a document must not choose our redirect.
func (r AuthorizationRequest) query(q url.Values) url.Values {
	for _, name := range []string{"scope", "resource", "prompt", "response_mode", "request", "request_uri"} {
		q.Del(name)
	}
	q.Set("response_type", "code")
	q.Set("client_id", r.Client.ClientID)
	q.Set("redirect_uri", r.RedirectURI)
	q.Set("state", r.State.Reveal())
	q.Set("code_challenge", r.Challenge)
	q.Set("code_challenge_method", "S256")
	if len(r.Scopes) > 0 {
		q.Set("scope", strings.Join(r.Scopes, " "))
	}
	if r.Resource != "" {
		q.Set("resource", r.Resource)
	}
	if slices.Contains(r.Scopes, offlineAccess) {
		q.Set("prompt", "consent") // OpenID Connect Core §11: without it offline_access is ignored
	}
	return q
}
