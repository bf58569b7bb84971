package sso

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/safehttp"
	"patchbay/internal/secret"
)

const (
	discoveryLife = 5 * time.Minute // that a provider's metadata is used before it is read again
	maxProviders  = 500             // whose metadata is kept
	providerTime  = 20 * time.Second
)

// provider is what a provider says about itself.
type provider struct {
	*oidc.Provider
	meta metadata
}

// metadata is what go-oidc does not tell of it (OpenID Connect Discovery §3, RFC 8414 §2, RFC 9207 §3).
type metadata struct {
	Scopes       []string `json:"scopes_supported"`
	AuthMethods  []string `json:"token_endpoint_auth_methods_supported"`
	Challenges   []string `json:"code_challenge_methods_supported"`
	IssParameter bool     `json:"authorization_response_iss_parameter_supported"`
	Keys         string   `json:"jwks_uri"`
}

// providers keeps what was discovered for a while. Its keys are read anew by go-oidc where one is not known.
type providers struct {
	mu    sync.Mutex
	found map[providerKey]discovered // guarded by mu
}

// providerKey names what a tenant discovered. Tenants share nothing of it: what an issuer's front answers to one may be another's doing.
type providerKey struct{ tenant, issuer string }

type discovered struct {
	provider *provider
	until    time.Time
}

func newProviders() *providers { return &providers{found: map[providerKey]discovered{}} }

func (p *providers) get(key providerKey, now time.Time) *provider {
	p.mu.Lock()
	defer p.mu.Unlock()
	if d, ok := p.found[key]; ok && now.Before(d.until) {
		return d.provider
	}
	return nil
}

func (p *providers) put(key providerKey, found *provider, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.found) >= maxProviders {
		clear(p.found)
	}
	p.found[key] = discovered{found, now.Add(discoveryLife)}
}

// tenantTransport sends each request as one of its tenant, whatever its context says: go-oidc reads signing keys without its caller's context.
type tenantTransport struct {
	of     http.RoundTripper
	tenant string
}

// RoundTrip sends one request.
func (t tenantTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	return t.of.RoundTrip(r.WithContext(safehttp.WithTenant(r.Context(), t.tenant)))
}

// discover reads what a provider says about itself to a tenant, and holds it against what a sign-in needs.
func (s *Service) discover(ctx context.Context, tenant connectors.TenantID, issuer string) (*provider, error) {
	key := providerKey{tenant.String(), issuer}
	if known := s.known.get(key, s.now()); known != nil {
		return known, nil
	}
	own := *s.http
	own.Transport = tenantTransport{of: s.http.Transport, tenant: key.tenant}
	read, err := oidc.NewProvider(oidc.ClientContext(ctx, &own), issuer)
	if _, ok := errors.AsType[*oidc.IssuerMismatchError](err); ok {
		return nil, otherIssuer(issuer)
	}
	if err != nil {
		return nil, unreachable(issuer, err)
	}
	found := &provider{Provider: read}
	if err := read.Claims(&found.meta); err != nil {
		return nil, unreachable(issuer, err)
	}
	if err := s.checkProviderSays(issuer, found); err != nil {
		return nil, err
	}
	s.known.put(key, found, s.now())
	return found, nil
}

func (s *Service) checkProviderSays(issuer string, p *provider) error {
	for _, raw := range []string{p.Endpoint().AuthURL, p.Endpoint().TokenURL, p.meta.Keys} {
		if _, err := s.checkURL(raw); err != nil {
			return refuse("sso-discovery", fault.Upstream, "The provider %s names an address where Patchbay does not go.", hostOf(issuer))
		}
	}
	if len(p.meta.Challenges) > 0 && !slices.Contains(p.meta.Challenges, "S256") {
		return refuse("sso-discovery", fault.Upstream, "The provider %s does not take PKCE with S256, which every sign-in here uses.", hostOf(issuer))
	}
	if p.authStyle() == oauth2.AuthStyleAutoDetect {
		return refuse("sso-discovery", fault.Upstream, "The provider %s wants another proof of the client than its secret.", hostOf(issuer))
	}
	return nil
}

// authStyle is how the client shows its secret. Trying both ways would show it twice, and use the code up.
func (p *provider) authStyle() oauth2.AuthStyle {
	switch {
	case len(p.meta.AuthMethods) == 0, slices.Contains(p.meta.AuthMethods, "client_secret_basic"):
		return oauth2.AuthStyleInHeader
	case slices.Contains(p.meta.AuthMethods, "client_secret_post"):
		return oauth2.AuthStyleInParams
	}
	return oauth2.AuthStyleAutoDetect
}

// client is the tenant's Patchbay, as the provider knows it.
func (s *Service) client(p *provider, id string, client secret.Text, groupsClaim string) *oauth2.Config {
	endpoint := p.Endpoint()
	endpoint.AuthStyle = p.authStyle()
	c := &oauth2.Config{
		ClientID: id, ClientSecret: client.Reveal(), Endpoint: endpoint, RedirectURL: s.RedirectURI(), Scopes: []string{oidc.ScopeOpenID, "email", "profile"},
	}
	if slices.Contains(p.meta.Scopes, groupsClaim) {
		c.Scopes = append(c.Scopes, groupsClaim)
	}
	return c
}
