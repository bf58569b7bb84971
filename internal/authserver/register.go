package authserver

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/netip"
	"slices"
	"time"

	"github.com/google/uuid"

	"patchbay/internal/auth"
	"patchbay/internal/fault"
	"patchbay/internal/store"
)

// Bounds of dynamic registration: per network and hour, and of all clients without an authorization, where the
// network with the most loses its oldest. Those expire after 30 days: a program keeps its id and may finish its
// sign-in later.
const (
	maxPerNetwork        = 20
	maxUnused            = 5000
	registrationWindow   = time.Hour
	maxRegistrationBytes = 16 << 10
	unnamedClient        = "Unnamed program"
)

// clientRegistration is the request and response of RFC 7591 sections 2 and 3.2.1.
type clientRegistration struct {
	ClientID      string   `json:"client_id,omitempty"`
	IssuedAt      int64    `json:"client_id_issued_at,omitempty"`
	Name          string   `json:"client_name,omitempty"`
	RedirectURIs  []string `json:"redirect_uris"`
	GrantTypes    []string `json:"grant_types,omitempty"`
	ResponseTypes []string `json:"response_types,omitempty"`
	TokenAuth     string   `json:"token_endpoint_auth_method,omitempty"`
	Scope         string   `json:"scope,omitempty"`
	BoundTokens   bool     `json:"dpop_bound_access_tokens,omitempty"`
}

func (s *Server) serveRegistration(w http.ResponseWriter, r *http.Request) error {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxRegistrationBytes+1))
	if err != nil {
		return err
	}
	var asked clientRegistration
	if len(body) > maxRegistrationBytes || json.Unmarshal(body, &asked) != nil {
		return &oauthError{Code: "invalid_client_metadata", Description: "not a JSON client document, or longer than 16 KiB"}
	}
	made, err := s.registerClient(r.Context(), asked, toNetwork(auth.Address(r)))
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusCreated, made)
	return nil
}

func (s *Server) registerClient(ctx context.Context, asked clientRegistration, address string) (clientRegistration, error) {
	if why := checkRedirectURIs(asked.RedirectURIs); why != "" {
		return clientRegistration{}, &oauthError{Code: "invalid_redirect_uri", Description: "registration refused: " + why}
	}
	if len(asked.GrantTypes) > 0 && !slices.Contains(asked.GrantTypes, "authorization_code") ||
		len(asked.ResponseTypes) > 0 && !slices.Contains(asked.ResponseTypes, "code") {
		return clientRegistration{}, &oauthError{Code: "invalid_client_metadata", Description: "only the grant type authorization_code with response type code is supported"}
	}
	id, err := uuid.NewRandom()
	if err != nil {
		return clientRegistration{}, err
	}
	name := displayName(asked.Name)
	if name == "" {
		name = unnamedClient
	}
	now := s.now()
	err = s.store.System().Sessions().RegisterClient(ctx, store.MCPClient{ID: id, Name: name, RedirectURIs: asked.RedirectURIs, CreatedAt: now, NeedsProof: asked.BoundTokens}, address,
		store.RegistrationLimits{PerNetwork: maxPerNetwork, Since: now.Add(-registrationWindow), Waiting: maxUnused})
	if f := fault.As(err); err != nil && f.Kind == fault.RateLimited {
		return clientRegistration{}, &oauthError{Status: http.StatusTooManyRequests, Code: "temporarily_unavailable", Description: f.Message, RetryAfter: registrationWindow}
	}
	if err != nil {
		return clientRegistration{}, err
	}
	return clientRegistration{
		ClientID: id.String(), IssuedAt: now.Unix(), Name: name, RedirectURIs: asked.RedirectURIs, TokenAuth: "none", Scope: Scope,
		GrantTypes: []string{"authorization_code", "refresh_token"}, ResponseTypes: []string{"code"}, BoundTokens: asked.BoundTokens,
	}, nil
}

// toNetwork returns the unit of rate limits. A rented machine has a /64 of IPv6 and a site a /48, so a /64 is
// too small.
func toNetwork(address string) string {
	at, err := netip.ParseAddr(address)
	if err != nil {
		return address
	}
	at = at.Unmap()
	if prefix, err := at.Prefix(48); at.Is6() && err == nil {
		return prefix.String()
	}
	return at.String()
}
