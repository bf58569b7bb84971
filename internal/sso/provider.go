package sso

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/jws"
	"patchbay/internal/safehttp"
	"patchbay/internal/secret"
)

const (
	discoveryLife   = 5 * time.Minute // cache lifetime of a provider's metadata
	maxProviders    = 500             // cached providers
	providerTimeout = 20 * time.Second
)

// provider is a provider's metadata and clients.
type provider struct {
	*oidc.Provider
	meta providerMetadata
}

// providerMetadata has the fields that go-oidc omits (OpenID Connect Discovery section 3, RFC 8414 section 2,
// RFC 9207 section 3).
type providerMetadata struct {
	Scopes       []string `json:"scopes_supported"`
	AuthMethods  []string `json:"token_endpoint_auth_methods_supported"`
	Challenges   []string `json:"code_challenge_methods_supported"`
	IssParameter bool     `json:"authorization_response_iss_parameter_supported"`
	Keys         string   `json:"jwks_uri"`
}

// providerCache caches discovered providers. go-oidc reloads their keys when one is unknown.
type providerCache struct {
	mu    sync.Mutex
	found map[providerKey]cachedProvider // guarded by mu
}

// providerKey identifies a cached provider. Tenants share none: an issuer's proxy may answer them differently.
type providerKey struct{ tenant, issuer string }

type cachedProvider struct {
	provider *provider
	until    time.Time
}

func newProviders() *providerCache { return &providerCache{found: map[providerKey]cachedProvider{}} }

func (p *providerCache) get(key providerKey, now time.Time) *provider {
	p.mu.Lock()
	defer p.mu.Unlock()
	if d, ok := p.found[key]; ok && now.Before(d.until) {
		return d.provider
	}
	return nil
}

func (p *providerCache) put(key providerKey, found *provider, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.found) >= maxProviders {
		clear(p.found)
	}
	p.found[key] = cachedProvider{found, now.Add(discoveryLife)}
}

// tenantTransport marks each request with its tenant: go-oidc loads keys without the caller's context.
type tenantTransport struct {
	of     http.RoundTripper
	tenant string
}

// RoundTrip sends one request.
func (t tenantTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	return t.of.RoundTrip(r.WithContext(safehttp.WithTenant(r.Context(), t.tenant)))
}

// providerClient returns the HTTP client for the URLs of a provider's metadata.
func (s *Service) providerClient() *http.Client {
	c := *s.http
	c.Transport = publicKeysTransport{next: asciiTransport{next: s.http.Transport}}
	return &c
}

// publicKeysTransport takes keys out of a provider's key set that are not public (see [jws.ErrUnsafeKey]): go-oidc parses all of them.
type publicKeysTransport struct{ next http.RoundTripper }

// RoundTrip sends one request.
func (t publicKeysTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := t.next.RoundTrip(r)
	if err != nil || res.StatusCode != http.StatusOK {
		return res, err
	}
	body, err := io.ReadAll(res.Body) // bounded by the client
	_ = res.Body.Close()
	if err != nil {
		return nil, err
	}
	body = withPublicKeys(body)
	if kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type")); kind == "application/jwt" && jws.CheckHeader(strings.TrimSpace(string(body))) != nil {
		body = nil // signed answers of UserInfo
	}
	res.Body, res.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return res, nil
}

// withPublicKeys returns a key set without the keys that are not public, in any spelling of the member: go-oidc ignores case. Other
// documents stay.
func withPublicKeys(document []byte) []byte {
	var members map[string]json.RawMessage
	if json.Unmarshal(document, &members) != nil {
		return document
	}
	isKeySet := false
	for name, value := range members {
		var keys []json.RawMessage
		if !strings.EqualFold(name, "keys") || json.Unmarshal(value, &keys) != nil {
			continue
		}
		public := slices.DeleteFunc(keys, func(raw json.RawMessage) bool { return jws.CheckKey(raw) != nil })
		filtered, err := json.Marshal(public)
		if err != nil {
			return nil
		}
		members[name], isKeySet = filtered, true
	}
	if !isKeySet {
		return document
	}
	all, err := json.Marshal(members)
	if err != nil {
		return nil
	}
	return all
}

// asciiTransport writes internationalised hosts in xn-- form: go-oidc requests the URLs of a provider's metadata as
// they are.
type asciiTransport struct{ next http.RoundTripper }

// RoundTrip sends one request.
func (t asciiTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	const scheme = "https://"
	if host := strings.TrimPrefix(asciiURL(scheme+r.URL.Host), scheme); host != r.URL.Host {
		r = r.Clone(r.Context())
		r.URL.Host, r.Host = host, host
	}
	return t.next.RoundTrip(r)
}

// asciiURL returns a URL with its host in xn-- form. An invalid or misleading host stays, and checkURL refuses it.
func asciiURL(raw string) string {
	ascii, _ := connectors.ASCIIURL(raw)
	return ascii
}

// discoverProvider reads a provider's metadata for a tenant, and checks what a sign-in needs.
func (s *Service) discoverProvider(ctx context.Context, tenant connectors.TenantID, issuer string) (*provider, error) {
	key := providerKey{tenant.String(), issuer}
	if known := s.known.get(key, s.now()); known != nil {
		return known, nil
	}
	client := s.providerClient()
	client.Transport = tenantTransport{of: client.Transport, tenant: key.tenant}
	read, err := oidc.NewProvider(oidc.ClientContext(ctx, client), issuer)
	if _, ok := errors.AsType[*oidc.IssuerMismatchError](err); ok {
		return nil, newIssuerMismatch(issuer)
	}
	if err != nil {
		return nil, newUnreachable(issuer, err)
	}
	found := &provider{Provider: read}
	if err := read.Claims(&found.meta); err != nil {
		return nil, newUnreachable(issuer, err)
	}
	if err := s.checkMetadata(issuer, found); err != nil {
		return nil, err
	}
	s.known.put(key, found, s.now())
	return found, nil
}

func (s *Service) checkMetadata(issuer string, p *provider) error {
	for _, raw := range []string{p.Endpoint().AuthURL, p.Endpoint().TokenURL, p.meta.Keys} {
		if _, err := s.checkURL(asciiURL(raw)); err != nil {
			return newRefusal("sso-discovery", fault.Upstream, "The provider %s names a blocked address.", hostFor(issuer))
		}
	}
	if len(p.meta.Challenges) > 0 && !slices.Contains(p.meta.Challenges, "S256") {
		return newRefusal("sso-discovery", fault.Upstream, "The provider %s doesn't support PKCE with S256, which we require.", hostFor(issuer))
	}
	if p.authStyle() == oauth2.AuthStyleAutoDetect {
		return newRefusal("sso-discovery", fault.Upstream, "The provider %s doesn't accept a client secret.", hostFor(issuer))
	}
	return nil
}

// authStyle returns how the client sends its secret. Probing both would send it twice and use up the code.
func (p *provider) authStyle() oauth2.AuthStyle {
	switch {
	case len(p.meta.AuthMethods) == 0, slices.Contains(p.meta.AuthMethods, "client_secret_basic"):
		return oauth2.AuthStyleInHeader
	case slices.Contains(p.meta.AuthMethods, "client_secret_post"):
		return oauth2.AuthStyleInParams
	}
	return oauth2.AuthStyleAutoDetect
}

// oauthConfig returns the tenant's OAuth client at the provider.
func (s *Service) oauthConfig(p *provider, id string, oauthConfig secret.Text, groupsClaim string) *oauth2.Config {
	endpoint := p.Endpoint()
	endpoint.AuthURL, endpoint.TokenURL = asciiURL(endpoint.AuthURL), asciiURL(endpoint.TokenURL)
	endpoint.AuthStyle = p.authStyle()
	c := &oauth2.Config{
		ClientID: id, ClientSecret: oauthConfig.Reveal(), Endpoint: endpoint, RedirectURL: s.RedirectURI(), Scopes: []string{oidc.ScopeOpenID, "email", "profile"},
	}
	if slices.Contains(p.meta.Scopes, groupsClaim) {
		c.Scopes = append(c.Scopes, groupsClaim)
	}
	return c
}
