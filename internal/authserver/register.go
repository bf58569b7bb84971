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

// What strangers can make us store: each network so many an hour, and all of them so many that nobody has let in, of which the network that has the most
// loses its oldest. Those are forgotten after 30 days: a program keeps its id, and
// may be finished with its sign-in another day.
const (
	mostFromOne  = 20
	mostWaiting  = 5000
	countedFor   = time.Hour
	maxRegister  = 16 << 10
	unnamedAlias = "A program without a name"
)

// registration is what a program says of itself, and what it is told (RFC 7591 §2, §3.2.1).
type registration struct {
	ClientID      string   `json:"client_id,omitempty"`
	IssuedAt      int64    `json:"client_id_issued_at,omitempty"`
	Name          string   `json:"client_name,omitempty"`
	RedirectURIs  []string `json:"redirect_uris"`
	GrantTypes    []string `json:"grant_types,omitempty"`
	ResponseTypes []string `json:"response_types,omitempty"`
	TokenAuth     string   `json:"token_endpoint_auth_method,omitempty"`
	Scope         string   `json:"scope,omitempty"`
}

func (s *Server) register(w http.ResponseWriter, r *http.Request) error {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxRegister+1))
	if err != nil {
		return err
	}
	var asked registration
	if len(body) > maxRegister || json.Unmarshal(body, &asked) != nil {
		return &refusal{Code: "invalid_client_metadata", Says: "this is no JSON document of a client, or longer than 16 KiB"}
	}
	made, err := s.enrol(r.Context(), asked, network(auth.Address(r)))
	if err != nil {
		return err
	}
	answer(w, http.StatusCreated, made)
	return nil
}

func (s *Server) enrol(ctx context.Context, asked registration, address string) (registration, error) {
	if why := unfit(asked.RedirectURIs); why != "" {
		return registration{}, &refusal{Code: "invalid_redirect_uri", Says: "the registration is refused: " + why}
	}
	if len(asked.GrantTypes) > 0 && !slices.Contains(asked.GrantTypes, "authorization_code") ||
		len(asked.ResponseTypes) > 0 && !slices.Contains(asked.ResponseTypes, "code") {
		return registration{}, &refusal{Code: "invalid_client_metadata", Says: "only the grant authorization_code with the response type code is given"}
	}
	id, err := uuid.NewRandom()
	if err != nil {
		return registration{}, err
	}
	name := shownName(asked.Name)
	if name == "" {
		name = unnamedAlias
	}
	now := s.now()
	err = s.store.System().RegisterClient(ctx, store.MCPClient{ID: id, Name: name, RedirectURIs: asked.RedirectURIs, CreatedAt: now}, address,
		store.RegistrationLimits{Most: mostFromOne, Since: now.Add(-countedFor), Waiting: mostWaiting})
	if f := fault.As(err); err != nil && f.Kind == fault.RateLimited {
		return registration{}, &refusal{Status: http.StatusTooManyRequests, Code: "temporarily_unavailable", Says: f.Message, After: countedFor}
	}
	if err != nil {
		return registration{}, err
	}
	return registration{
		ClientID: id.String(), IssuedAt: now.Unix(), Name: name, RedirectURIs: asked.RedirectURIs, TokenAuth: "none", Scope: Scope,
		GrantTypes: []string{"authorization_code", "refresh_token"}, ResponseTypes: []string{"code"},
	}, nil
}

// network is who an address stands for. Whoever rents a machine has a /64 of IPv6, and a site a /48, so that one /64 after the other costs nothing.
func network(address string) string {
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
