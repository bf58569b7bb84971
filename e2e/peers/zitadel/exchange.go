package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/google/uuid"
	"github.com/zitadel/oidc/v3/example/server/storage"
	"github.com/zitadel/oidc/v3/pkg/crypto"
	"github.com/zitadel/oidc/v3/pkg/oidc"
	"github.com/zitadel/oidc/v3/pkg/op"
)

const idJAG oidc.TokenType = "urn:ietf:params:oauth:token-type:id-jag"

// directory has the people, and what an administrator of the provider decides.
type directory struct {
	people map[string]struct { // by address
		Name     string `json:"name"`
		Verified bool   `json:"verified"`
	}

	mu     sync.Mutex // guards the fields below
	policy struct {
		Audiences map[string]map[string]string `json:"audiences"` // client → issuer of a server → client id there
		Suspended []string                     `json:"suspended"` // addresses
	}
	counts struct {
		Authorize int `json:"authorize"`
		Exchanges int `json:"exchanges"`
		Refreshes int `json:"refreshes"`
		Refused   int `json:"refused"`
	}
}

func (d *directory) count(which *int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	*which++
}

// subjectFor is a subject that says nothing of the address.
func subjectFor(email string) string {
	sum := sha256.Sum256([]byte(email))
	return hex.EncodeToString(sum[:12])
}

// GetUserByUsername implements storage.UserStore; nil: the person is unknown or suspended.
func (d *directory) GetUserByUsername(email string) *storage.User {
	d.mu.Lock()
	defer d.mu.Unlock()
	who, ok := d.people[email]
	if !ok || slices.Contains(d.policy.Suspended, email) {
		return nil
	}
	return &storage.User{ID: subjectFor(email), Username: email, Email: email, EmailVerified: who.Verified, FirstName: who.Name, IsAdmin: true}
}

// GetUserByID implements storage.UserStore.
func (d *directory) GetUserByID(id string) *storage.User {
	for email := range d.people {
		if subjectFor(email) == id {
			return d.GetUserByUsername(email)
		}
	}
	return nil
}

// ExampleClientID implements storage.UserStore.
func (*directory) ExampleClientID() string { return "unused" }

// audience is the client's id at a server that it may ask for.
func (d *directory) audience(client, issuer string) (string, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	id, ok := d.policy.Audiences[client][issuer]
	return id, ok
}

// policyStorage is the example's storage with the organisation's rules for exchanges.
type policyStorage struct {
	*storage.Storage
	directory *directory
}

// shortLived is a client with ID tokens that are too old for an exchange after the sign-in.
type shortLived struct{ op.Client }

// IDTokenLifetime implements op.Client.
func (shortLived) IDTokenLifetime() time.Duration { return 20 * time.Second }

// GetClientByClientID implements op.Storage.
func (s *policyStorage) GetClientByClientID(ctx context.Context, id string) (op.Client, error) {
	client, err := s.Storage.GetClientByClientID(ctx, id)
	if err != nil || id == "program" {
		return client, err
	}
	return shortLived{client}, nil
}

// ValidateTokenExchangeRequest implements op.TokenExchangeStorage. The library has verified client and subject token.
func (s *policyStorage) ValidateTokenExchangeRequest(_ context.Context, r op.TokenExchangeRequest) error {
	if s.directory.GetUserByID(r.GetExchangeSubject()) == nil {
		return oidc.ErrInvalidRequest().WithDescription("subject_token is unacceptable")
	}
	if len(r.GetAudience()) != 1 || len(r.GetResourses()) > 1 {
		return &oidc.Error{ErrorType: "invalid_target"}
	}
	if _, ok := s.directory.audience(r.GetClientID(), r.GetAudience()[0]); !ok {
		return &oidc.Error{ErrorType: "invalid_target"}
	}
	return nil
}

// server is the library's server, which also issues identity assertions.
type server struct {
	*op.LegacyServer
	store *policyStorage
}

// TokenExchange implements op.Server.
func (s *server) TokenExchange(ctx context.Context, r *op.ClientRequest[oidc.TokenExchangeRequest]) (*op.Response, error) {
	if r.Data.RequestedTokenType != idJAG {
		return s.LegacyServer.TokenExchange(ctx, r)
	}
	d := s.store.directory
	d.count(&d.counts.Exchanges)
	if r.Data.SubjectTokenType == oidc.RefreshTokenType {
		d.count(&d.counts.Refreshes)
	}
	response, err := s.issueAssertion(ctx, r)
	if err != nil {
		d.count(&d.counts.Refused)
	}
	return response, err
}

func (s *server) issueAssertion(ctx context.Context, r *op.ClientRequest[oidc.TokenExchangeRequest]) (*op.Response, error) {
	request, err := op.CreateTokenExchangeRequest(ctx, r.Data, r.Client, s.Provider())
	if err != nil {
		return nil, err
	}
	audience := request.GetAudience()[0]
	client, _ := s.store.directory.audience(r.Client.GetID(), audience)
	now := time.Now()
	claims := map[string]any{
		"iss": op.IssuerFromContext(ctx), "sub": request.GetSubject(), "aud": audience, "client_id": client, "jti": uuid.NewString(),
		"iat": now.Unix(), "exp": now.Add(time.Minute).Unix(), "scope": strings.Join(request.GetScopes(), " "),
	}
	if resources := request.GetResourses(); len(resources) == 1 {
		claims["resource"] = resources[0]
	}
	key, err := s.store.SigningKey(ctx)
	if err != nil {
		return nil, err
	}
	options := (&jose.SignerOptions{}).WithType("oauth-id-jag+jwt")
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: key.SignatureAlgorithm(), Key: &jose.JSONWebKey{Key: key.Key(), KeyID: key.ID()}}, options)
	if err != nil {
		return nil, err
	}
	text, err := crypto.Sign(claims, signer)
	if err != nil {
		return nil, err
	}
	return op.NewResponse(&oidc.TokenExchangeResponse{AccessToken: text, IssuedTokenType: idJAG, TokenType: "N_A", ExpiresIn: 60, Scopes: request.GetScopes()}), nil
}
