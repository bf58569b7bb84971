package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"patchbay/internal/safe"
)

// suiteIdentity is what the suite knows of its identity provider, which has no page to sign in.
type suiteIdentity struct {
	ClientID      string `json:"idp_client_id"`
	IDToken       string `json:"idp_id_token"`
	TokenEndpoint string `json:"idp_token_endpoint"`
}

// identityProvider is an OpenID provider in front of the suite's: it signs one person in, and passes token exchanges on with the ID token
// that the suite has for the person. Everything else of an exchange is Patchbay's.
type identityProvider struct {
	url    string
	suite  suiteIdentity
	signer jose.Signer
	public jose.JSONWebKey
	server *http.Server

	mu     sync.Mutex        // guards nonces
	nonces map[string]string // by code
}

func startProvider(suite suiteIdentity) (*identityProvider, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: jose.JSONWebKey{Key: key, KeyID: "1"}}, nil)
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // it does not wait
	if err != nil {
		return nil, err
	}
	p := &identityProvider{
		url: "http://" + listener.Addr().String(), suite: suite, signer: signer, nonces: map[string]string{},
		public: jose.JSONWebKey{Key: key.Public(), KeyID: "1", Algorithm: "ES256", Use: "sig"},
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", p.serveMetadata)
	mux.HandleFunc("GET /keys", p.serveKeys)
	mux.HandleFunc("GET /authorize", p.serveAuthorize)
	mux.HandleFunc("POST /token", p.serveToken)
	mux.HandleFunc("GET /program", func(http.ResponseWriter, *http.Request) {})
	p.server = &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	safe.Go(safe.Background, func() { _ = p.server.Serve(listener) })
	return p, nil
}

func (p *identityProvider) closeServer() { _ = p.server.Close() }

func (p *identityProvider) serveMetadata(w http.ResponseWriter, _ *http.Request) {
	_ = json.NewEncoder(w).Encode(map[string]any{
		"issuer": p.url, "authorization_endpoint": p.url + "/authorize", "token_endpoint": p.url + "/token", "jwks_uri": p.url + "/keys",
		"response_types_supported": []string{"code"}, "subject_types_supported": []string{"public"},
		"id_token_signing_alg_values_supported": []string{"ES256"}, "code_challenge_methods_supported": []string{"S256"},
	})
}

func (p *identityProvider) serveKeys(w http.ResponseWriter, _ *http.Request) {
	_ = json.NewEncoder(w).Encode(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{p.public}})
}

// serveAuthorize signs the person in, without asking.
func (p *identityProvider) serveAuthorize(w http.ResponseWriter, r *http.Request) {
	q, code := r.URL.Query(), rand.Text()
	p.mu.Lock()
	p.nonces[code] = q.Get("nonce")
	p.mu.Unlock()
	http.Redirect(w, r, q.Get("redirect_uri")+"?"+url.Values{"code": {code}, "state": {q.Get("state")}}.Encode(), http.StatusSeeOther)
}

func (p *identityProvider) serveToken(w http.ResponseWriter, r *http.Request) {
	_ = r.ParseForm()
	if r.PostForm.Get("grant_type") != "authorization_code" {
		p.passExchange(w, r)
		return
	}
	p.mu.Lock()
	nonce := p.nonces[r.PostForm.Get("code")]
	p.mu.Unlock()
	now := time.Now()
	token, err := jwt.Signed(p.signer).Claims(map[string]any{
		"iss": p.url, "sub": "ada", "aud": p.suite.ClientID, "nonce": nonce, "iat": now.Unix(), "exp": now.Add(time.Hour).Unix(),
		"email": "ada@" + enterpriseDomain, "email_verified": true, "name": "Ada", "groups": []string{},
	}).Serialize()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"access_token": rand.Text(), "token_type": "Bearer", "expires_in": 3600, "id_token": token})
}

// passExchange sends an exchange to the suite's provider, with the suite's ID token in the place of ours.
func (p *identityProvider) passExchange(w http.ResponseWriter, r *http.Request) {
	form := r.PostForm
	if _, err := jwt.ParseSigned(form.Get("subject_token"), []jose.SignatureAlgorithm{jose.ES256}); err == nil {
		form.Set("subject_token", p.suite.IDToken)
	}
	res, err := (&http.Client{Transport: &localTransport}).PostForm(p.suite.TokenEndpoint, form) //nolint:noctx // the suite ends before a timeout
	if err != nil {
		http.Error(w, fmt.Sprint("the suite's provider: ", err), http.StatusBadGateway)
		return
	}
	defer res.Body.Close()
	w.Header().Set("Content-Type", res.Header.Get("Content-Type"))
	w.WriteHeader(res.StatusCode)
	_, _ = io.Copy(w, res.Body)
}
