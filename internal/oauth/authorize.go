package oauth

import (
	"net/url"
	"slices"
	"strings"
)

// AuthorizationRequest has the parameters of an authorization URL.
type AuthorizationRequest struct {
	Peer
	RedirectURI string
	State       Secret
	Challenge   string // of the PKCE
	Scopes      []string
	// SelectAccount asks the server to let the person choose the account, where it is known to understand that.
	SelectAccount bool
}

// AuthorizationURL returns the URL for the browser (RFC 6749 section 4.1.1). It refuses a server that does not
// promise PKCE, unless Metadata has an admin's permission.
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
		return "", newRefusal(StepAuthorize, "the client belongs to %s, and the request would go to %s",
			c.shownURL(r.Client.Issuer), c.shownURL(r.Server.Issuer))
	}
	u, _ := parsePlainURL(r.Server.AuthorizationEndpoint)
	u.RawQuery = r.encodeQuery(u.Query()).Encode()
	return u.String(), nil
}

// encodeQuery adds our parameters to the endpoint's own. Ours win: a document must not choose our redirect.
func (r AuthorizationRequest) encodeQuery(q url.Values) url.Values {
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
	if prompts := r.promptValues(); len(prompts) > 0 {
		q.Set("prompt", strings.Join(prompts, " "))
	}
	return q
}

// promptValues are the values of prompt (OpenID Connect Core section 3.1.2.1).
func (r AuthorizationRequest) promptValues() (values []string) {
	if slices.Contains(r.Scopes, offlineAccess) {
		values = append(values, "consent") // section 11: without it offline_access is ignored
	}
	known := r.Server.PromptValuesSupported
	if r.SelectAccount && (slices.Contains(known, selectAccount) || known == nil && slices.Contains(r.Scopes, ScopeOpenID)) {
		values = append(values, selectAccount)
	}
	return values
}

// selectAccount keeps an OpenID provider from silently signing in the person of its browser session.
const selectAccount = "select_account"
