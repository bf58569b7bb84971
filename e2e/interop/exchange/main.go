// Command exchange is an authorization server of zitadel/oidc that exchanges the assertions of issuers below a URL, and an MCP server's
// metadata.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"log"
	"log/slog"
	"net/http"
	"os"
	"strings"

	"github.com/zitadel/oidc/v3/example/server/exampleop"
	"github.com/zitadel/oidc/v3/example/server/storage"
	"github.com/zitadel/oidc/v3/pkg/client"
	"github.com/zitadel/oidc/v3/pkg/client/rp"
	"github.com/zitadel/oidc/v3/pkg/oidc"
	"github.com/zitadel/oidc/v3/pkg/op"
)

// peer verifies the assertions of trusted issuers.
type peer struct {
	*storage.Storage
	self, trusted string
}

func (p *peer) verify(ctx context.Context, token string, kind oidc.TokenType) (string, string, map[string]any, error) {
	if kind != oidc.JWTTokenType {
		return "", "", nil, errors.New("no JWT")
	}
	var named oidc.IDTokenClaims
	if _, err := oidc.ParseToken(token, &named); err != nil {
		return "", "", nil, err
	}
	if !strings.HasPrefix(named.Issuer, p.trusted) {
		return "", "", nil, errors.New("not trusted: " + named.Issuer)
	}
	found, err := client.Discover(ctx, named.Issuer, http.DefaultClient)
	if err != nil {
		return "", "", nil, err
	}
	verifier := rp.NewIDTokenVerifier(found.Issuer, p.self, rp.NewRemoteKeySet(http.DefaultClient, found.JwksURI), rp.WithSupportedSigningAlgorithms(found.IDTokenSigningAlgValuesSupported...))
	claims, err := rp.VerifyIDToken[*oidc.IDTokenClaims](ctx, token, verifier)
	if err != nil {
		return "", "", nil, err
	}
	return token, claims.Subject, claims.Claims, nil
}

func (p *peer) VerifyExchangeSubjectToken(ctx context.Context, token string, kind oidc.TokenType) (string, string, map[string]any, error) {
	return p.verify(ctx, token, kind)
}

func (p *peer) VerifyExchangeActorToken(ctx context.Context, token string, kind oidc.TokenType) (string, string, map[string]any, error) {
	return p.verify(ctx, token, kind)
}

// ValidateTokenExchangeRequest accepts the actor that the subject's assertion allows.
func (p *peer) ValidateTokenExchangeRequest(_ context.Context, r op.TokenExchangeRequest) error {
	may, _ := r.GetExchangeSubjectTokenClaims()["may_act"].(map[string]any)
	if r.GetExchangeActor() != "" && may["sub"] != r.GetExchangeActor() {
		return errors.New("another actor")
	}
	return nil
}

// GetPrivateClaimsFromTokenExchangeRequest names the actor.
func (p *peer) GetPrivateClaimsFromTokenExchangeRequest(_ context.Context, r op.TokenExchangeRequest) (map[string]any, error) {
	if r.GetExchangeActor() != "" {
		return map[string]any{"act": map[string]any{"sub": r.GetExchangeActor()}}, nil
	}
	return map[string]any{"act": r.GetExchangeSubjectTokenClaims()["act"]}, nil
}

// jwtClient gets JWTs as access tokens.
type jwtClient struct{ op.Client }

func (jwtClient) AccessTokenType() op.AccessTokenType { return op.AccessTokenTypeJWT }

func (p *peer) GetClientByClientID(ctx context.Context, id string) (op.Client, error) {
	c, err := p.Storage.GetClientByClientID(ctx, id)
	return jwtClient{c}, err
}

func main() {
	self := "http://" + os.Args[1]
	storage.RegisterClients(storage.WebClient("patchbay", "secret of the client"))
	p := &peer{Storage: storage.NewStorage(storage.NewUserStore(self)), self: self, trusted: os.Args[2]}
	router := exampleop.SetupServer(self, p, slog.New(slog.NewTextHandler(os.Stderr, nil)), false)
	mux := http.NewServeMux()
	mux.HandleFunc("/.well-known/oauth-protected-resource/mcp", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(map[string]any{"resource": self + "/mcp", "authorization_servers": []string{self}})
	})
	mux.Handle("/", router)
	log.Fatal(http.ListenAndServe(os.Args[1], mux))
}
