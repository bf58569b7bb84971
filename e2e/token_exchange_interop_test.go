//go:build e2e && interop

package e2e_test

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-chi/chi/v5"

	"patchbay/internal/auth"
	"patchbay/internal/authserver"
	"patchbay/internal/connectors"
	"patchbay/internal/credentials"
	"patchbay/internal/oauth"
	"patchbay/internal/safehttp"
	"patchbay/internal/testing/fixture"
)

// startExchangePeer starts an authorization server of zitadel/oidc, which trusts issuers below a URL, and returns its address.
func startExchangePeer(t *testing.T, trusted string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "exchange")
	build := exec.Command("go", "build", "-o", path, "./exchange")
	build.Dir = "interop"
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the peer: %v\n%s", err, out)
	}
	host := fmt.Sprintf("127.0.0.1:%d", freePort(t))
	peer := exec.Command(path, host, trusted)
	if err := peer.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = peer.Process.Kill()
		_ = peer.Wait()
	})
	eventually(t, func() error {
		r, err := localClient.Get("http://" + host + "/.well-known/openid-configuration")
		if err == nil {
			_ = r.Body.Close()
		}
		return err
	})
	return "http://" + host
}

// TestTokenExchange_PeerNamesMemberAndAgent gets tokens of a call from an authorization server that reads our issuer's documents.
func TestTokenExchange_PeerNamesMemberAndAgent(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	egress := safehttp.New(safehttp.Options{Mode: safehttp.Local})
	t.Cleanup(egress.Client().CloseIdleConnections)
	router := chi.NewRouter()
	issuers := httptest.NewServer(router)
	t.Cleanup(issuers.Close)
	authserver.New(authserver.Options{
		Store: w.St, Auth: auth.New(auth.Options{Store: w.St}), HTTP: egress.Client(), CheckURL: egress.CheckURL, BaseURL: issuers.URL,
	}).Mount(router)
	peer := startExchangePeer(t, issuers.URL+credentials.IssuersPath)
	resolver := credentials.NewRefreshing(credentials.Options{
		Store: w.St, OAuth: &oauth.Client{HTTP: egress.Client(), CheckURL: egress.CheckURL}, BaseURL: issuers.URL,
	})
	member, agent := w.Member(t, connectors.RoleMember), w.Agent(t)
	if err := errors.Join(w.Door().Accounts().SetTokenExchange(t.Context(), true), w.Door().Agents().MakePersonal(t.Context(), member.UserID, agent.ID)); err != nil {
		t.Fatal(err)
	}
	for _, way := range connectors.TokenExchanges {
		c := w.Connector(t, func(d *connectors.Draft) {
			d.URL, d.Auth.Type, d.CredentialMode = peer+"/mcp", connectors.AuthOAuth2, connectors.CredentialPerAgent
			d.OAuth = connectors.OAuthSettings{ClientID: "patchbay", Issuer: peer, TokenExchange: way}
		})
		if err := w.Door().Connectors().SetClientSecret(t.Context(), c, "secret of the client"); err != nil {
			t.Fatal(err)
		}
		u, err := resolver.ResolveFor(t.Context(), w.Tenant, c, credentials.Account{Agent: &agent.ID}, connectors.CallerAgent(agent.ID))
		if err != nil || u == nil {
			t.Fatalf("%s: %v", way, err)
		}
		var claims struct {
			Sub string
			Act struct{ Sub string }
		}
		parts := strings.Split(u.Headers[0].Value.Reveal(), ".")
		raw, err := base64.RawURLEncoding.DecodeString(parts[1])
		if err == nil {
			err = json.Unmarshal(raw, &claims)
		}
		if err != nil || claims.Sub != w.Tenant.String()+":"+member.UserID.String() || claims.Act.Sub != "agent:"+agent.ID.String() {
			t.Errorf("%s: %s, %v", way, raw, err)
		}
	}
}
