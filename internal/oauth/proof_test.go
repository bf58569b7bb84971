package oauth_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"patchbay/internal/oauth"
	"patchbay/internal/oauth/oauthtest"

	"github.com/golang-jwt/jwt/v5"
)

// sendToken sends a request to a resource as the holder of a token.
func (f *flow) sendToken(address, token string, key *oauth.ProofKey, body string) *http.Response {
	f.t.Helper()
	r, err := http.NewRequestWithContext(f.t.Context(), http.MethodPost, address, strings.NewReader(body))
	if err != nil {
		f.t.Fatal(err)
	}
	client, scheme := f.HTTP, "Bearer "
	if key != nil {
		client, scheme = key.Client(f.HTTP, nil), "DPoP "
	}
	r.Header.Set("Authorization", scheme+token)
	resp, err := client.Do(r)
	if err != nil {
		f.t.Fatal(err)
	}
	_ = resp.Body.Close()
	if r.Header.Get("DPoP") != "" {
		f.t.Error("the sender's header was changed")
	}
	return resp
}

func TestProofs_BindTokens(t *testing.T) {
	t.Parallel()
	for _, nonce := range []string{"", "n-1"} {
		t.Run("nonce "+nonce, func(t *testing.T) {
			t.Parallel()
			as := oauthtest.Start(t, oauthtest.Behaviour{DPoP: true, Nonce: nonce, Rotate: true})
			var bodies []string
			mcp := as.Protect(t, oauthtest.ResourceBehaviour{TakesProofs: true, Nonce: nonce, Next: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				body := make([]byte, 16)
				n, _ := r.Body.Read(body)
				bodies = append(bodies, string(body[:n]))
			})})
			f := newFlow(t)
			f.discover(oauth.Target{ServerURL: mcp.URL})
			f.register(oauth.RegisterRequest{})
			if err := f.exchange(f.authorize()); err != nil {
				t.Fatal(err)
			}
			key := f.Token.Proof
			if key == nil {
				t.Fatal("the token is bound to no key")
			}
			stored, err := oauth.ParseProofKey(key.Encode())
			if err != nil {
				t.Fatal(err)
			}
			for i := range 3 {
				if resp := f.sendToken(mcp.URL+"?a=b#c", f.Token.AccessToken.Reveal(), stored, "body"); resp.StatusCode != http.StatusOK {
					t.Fatalf("request %d answers %d", i, resp.StatusCode)
				}
			}
			if strings.Join(bodies, " ") != "body body body" {
				t.Errorf("bodies arrived as %q", bodies)
			}
			f.Peer.Proof = stored
			next, err := f.Refresh(t.Context(), f.Peer, f.Token.RefreshToken)
			if err != nil || next.Proof != stored {
				t.Fatalf("refresh: %v, %v", next.Proof, err)
			}
			other, err := oauth.NewProofKey()
			if err != nil {
				t.Fatal(err)
			}
			if resp := f.sendToken(mcp.URL, next.AccessToken.Reveal(), other, ""); resp.StatusCode != http.StatusUnauthorized {
				t.Errorf("with another key: %d", resp.StatusCode)
			}
			if resp := f.sendToken(mcp.URL, next.AccessToken.Reveal(), nil, ""); resp.StatusCode != http.StatusUnauthorized {
				t.Errorf("without a proof: %d", resp.StatusCode)
			}
			f.Peer.Proof = other
			_, err = f.Refresh(t.Context(), f.Peer, next.RefreshToken)
			wantKind(t, err, oauth.KindDead)
		})
	}
}

// A server that asks for its nonce has done nothing: the code is sent once more, and not a third time.
func TestProofs_NonceIsAnsweredOnce(t *testing.T) {
	t.Parallel()
	as := oauthtest.Start(t, oauthtest.Behaviour{DPoP: true, Nonce: "n-1"})
	f := connectedTo(t, as, oauthtest.ResourceBehaviour{TakesProofs: true})
	if n := as.Count(oauthtest.Exchange); n != 2 {
		t.Errorf("%d requests for the token", n)
	}
	as.Set(func(b *oauthtest.Behaviour) { b.Nonce = "n-2" })
	f.Peer.Proof = f.Token.Proof
	if _, err := f.Refresh(t.Context(), f.Peer, f.Token.RefreshToken); err != nil {
		t.Error(err)
	}
	if n := as.Count(oauthtest.Refresh); n != 2 {
		t.Errorf("%d refreshes for a new nonce", n)
	}
	as.Set(func(b *oauthtest.Behaviour) { b.Nonce = strings.Repeat("x", 2<<10) }) // too long to send
	_, err := f.Refresh(t.Context(), f.Peer, f.Token.RefreshToken)
	if wantKind(t, err, oauth.KindRejected); as.Count(oauthtest.Refresh) != 3 {
		t.Errorf("%d refreshes in all", as.Count(oauthtest.Refresh))
	}
}

func TestProofs_ServersWithoutThemGetNone(t *testing.T) {
	t.Parallel()
	for name, edit := range map[string]func(oauthtest.Document){
		"not offered":          func(oauthtest.Document) {},
		"of another algorithm": func(d oauthtest.Document) { d["dpop_signing_alg_values_supported"] = []string{"EdDSA"} },
		"of no algorithm":      func(d oauthtest.Document) { d["dpop_signing_alg_values_supported"] = 5 },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			as := oauthtest.Start(t, oauthtest.Behaviour{Edit: edit})
			if f := connectedTo(t, as, oauthtest.ResourceBehaviour{TakesProofs: true}); f.Token.Proof != nil {
				t.Error("the token has a key")
			}
			for _, r := range as.Requests() {
				if r.Header.Get("DPoP") != "" {
					t.Errorf("%s carries a proof", r.Kind)
				}
			}
		})
	}
}

// An authorization server may offer proofs for a resource that knows bearer tokens alone.
func TestProofs_AreForResourcesThatTakeThem(t *testing.T) {
	t.Parallel()
	offers := oauthtest.Behaviour{Edit: func(d oauthtest.Document) { d["dpop_signing_alg_values_supported"] = []string{"ES256"} }}
	as := oauthtest.Start(t, offers)
	connected(t, as)
	if sent := as.Requests(oauthtest.Exchange)[0]; sent.Header.Get("DPoP") != "" {
		t.Error("a proof was sent for a resource that asked for none")
	}
	f := newFlow(t)
	f.discover(oauth.Target{ServerURL: as.Protect(t, oauthtest.ResourceBehaviour{Path: "/other"}).URL, TakesProofs: true}) // by its challenge
	if len(f.Peer.Server.DPoPSigningAlgs) == 0 {
		t.Error("the challenge counts for nothing")
	}
}

// A server may offer proofs and issue a bearer token all the same.
func TestProofs_BearerTokenNeedsNoKey(t *testing.T) {
	t.Parallel()
	as := oauthtest.Start(t, oauthtest.Behaviour{Edit: func(d oauthtest.Document) { d["dpop_signing_alg_values_supported"] = []string{"ES256"} }})
	f := connectedTo(t, as, oauthtest.ResourceBehaviour{TakesProofs: true})
	if f.Token.Proof != nil {
		t.Error("the token has a key")
	}
	if sent := as.Requests(oauthtest.Exchange)[0]; sent.Header.Get("DPoP") == "" {
		t.Error("the request carries no proof")
	}
}

func TestProofKey_IsNotPrinted(t *testing.T) {
	t.Parallel()
	key, err := oauth.NewProofKey()
	if err != nil {
		t.Fatal(err)
	}
	hidden, _ := key.MarshalText()
	for _, text := range []string{fmt.Sprintf("%v %+v %#v %s", key, key, key, key), string(hidden)} {
		if strings.Contains(text, key.Encode().Reveal()) || strings.Contains(text, "P-256") {
			t.Errorf("printed as %s", text)
		}
	}
	for _, text := range []oauth.Secret{"", "?", "AAAA"} {
		if _, err := oauth.ParseProofKey(text); err == nil {
			t.Errorf("%q is read as a key", text.Reveal())
		}
	}
}

// Requests at once that all have an old nonce are all sent again with the new one.
func TestProofs_NonceChangesForRequestsAtOnce(t *testing.T) {
	t.Parallel()
	const requests = 8
	var count atomic.Int32
	allHere := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		claims := jwt.MapClaims{}
		_, _, _ = jwt.NewParser().ParseUnverified(r.Header.Get("DPoP"), claims)
		switch n := count.Add(1); {
		case n < requests:
			<-allHere
		case n == requests:
			close(allHere)
		}
		if w.Header().Set("DPoP-Nonce", "n-2"); claims["nonce"] != "n-2" {
			w.Header().Set("WWW-Authenticate", `DPoP error="use_dpop_nonce"`)
			w.WriteHeader(http.StatusUnauthorized)
		}
	}))
	t.Cleanup(server.Close)
	key, err := oauth.NewProofKey()
	if err != nil {
		t.Fatal(err)
	}
	client := key.Client(newClient(t).HTTP, nil)
	statuses := make(chan int, requests)
	for range requests {
		go func() {
			r, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, nil)
			r.Header.Set("Authorization", "DPoP token")
			resp, err := client.Do(r)
			if err != nil {
				statuses <- 0
				return
			}
			_ = resp.Body.Close()
			statuses <- resp.StatusCode
		}()
	}
	for range requests {
		if status := <-statuses; status != http.StatusOK {
			t.Errorf("a request answers %d", status)
		}
	}
}

// A refusal for another reason repeats nothing, though a new nonce comes with it.
func TestProofs_OtherRefusalsAreNotRepeated(t *testing.T) {
	t.Parallel()
	var sent atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("DPoP-Nonce", fmt.Sprint("n-", sent.Add(1)))
		w.Header().Set("WWW-Authenticate", `DPoP error="invalid_token"`)
		w.WriteHeader(http.StatusUnauthorized)
	}))
	t.Cleanup(server.Close)
	key, err := oauth.NewProofKey()
	if err != nil {
		t.Fatal(err)
	}
	newFlow(t).sendToken(server.URL, "token", key, "body")
	if n := sent.Load(); n != 1 {
		t.Errorf("sent %d times", n)
	}
}
