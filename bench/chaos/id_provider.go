package main

import (
	"cmp"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
)

// providerMode is how the OpenID provider responds.
type providerMode int32

const (
	providerHonest     providerMode = iota
	providerFails                   // 500
	providerHangs                   // no response
	providerDropsReply              // the code is used, and the response lost
	providerMixesUp                 // a person of another tenant
)

// idProvider is an OpenID provider with an issuer for each tenant. It accepts every sign-in.
type idProvider struct {
	base    string
	key     *ecdsa.PrivateKey
	serve   *http.Server
	mode    atomic.Int32
	changes atomic.Int64 // number of mode changes

	mu    sync.Mutex // guards codes
	codes map[string]url.Values
}

func newProvider(ctx context.Context, w *world) (*idProvider, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &idProvider{base: "http://" + listener.Addr().String(), key: key, codes: map[string]url.Values{}}
	mux := http.NewServeMux()
	for _, t := range w.tenants {
		path, issuer := "/"+t.slug, p.issuerURL(t)
		mux.HandleFunc("GET "+path+"/.well-known/openid-configuration", func(a http.ResponseWriter, _ *http.Request) {
			writeJSON(a, http.StatusOK, map[string]any{
				"issuer": issuer, "authorization_endpoint": issuer + "/authorize", "token_endpoint": issuer + "/token", "jwks_uri": issuer + "/keys",
				"id_token_signing_alg_values_supported": []string{"ES256"}, "code_challenge_methods_supported": []string{"S256"},
			})
		})
		mux.HandleFunc("GET "+path+"/keys", func(a http.ResponseWriter, _ *http.Request) {
			writeJSON(a, http.StatusOK, jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: key.Public(), KeyID: "1", Algorithm: "ES256", Use: "sig"}}})
		})
		mux.HandleFunc("GET "+path+"/authorize", func(a http.ResponseWriter, r *http.Request) { p.issueCode(a, r) })
		mux.HandleFunc("POST "+path+"/token", func(a http.ResponseWriter, r *http.Request) { p.issueToken(w, t, a, r) })
	}
	p.serve = &http.Server{Handler: p.withMode(mux), ReadHeaderTimeout: time.Minute}
	go func() { _ = p.serve.Serve(listener) }()
	return p, nil
}

func (p *idProvider) issuerURL(t *tenant) string { return p.base + "/" + t.slug }

func (p *idProvider) setMode(mode providerMode) {
	p.mode.Store(int32(mode))
	p.changes.Add(1)
}

// withMode applies the current mode.
func (p *idProvider) withMode(next http.Handler) http.Handler {
	return http.HandlerFunc(func(a http.ResponseWriter, r *http.Request) {
		switch providerMode(p.mode.Load()) {
		case providerFails:
			http.Error(a, "not now", http.StatusInternalServerError)
		case providerHangs:
			for providerMode(p.mode.Load()) == providerHangs && r.Context().Err() == nil {
				<-time.After(20 * time.Millisecond)
			}
			panic(http.ErrAbortHandler)
		default:
			next.ServeHTTP(a, r)
		}
	})
}

func writeJSON(a http.ResponseWriter, status int, v any) {
	a.Header().Set("Content-Type", "application/json")
	a.WriteHeader(status)
	_ = json.NewEncoder(a).Encode(v)
}

func (p *idProvider) issueCode(a http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	code := plantedPrefix + rand.Text()
	p.mu.Lock()
	p.codes[code] = q
	p.mu.Unlock()
	http.Redirect(a, r, q.Get("redirect_uri")+"?"+url.Values{"code": {code}, "state": {q.Get("state")}}.Encode(), http.StatusFound)
}

// issueToken exchanges a code for an id token, once.
func (p *idProvider) issueToken(w *world, t *tenant, a http.ResponseWriter, r *http.Request) {
	_ = r.ParseForm()
	p.mu.Lock()
	request := p.codes[r.PostForm.Get("code")]
	delete(p.codes, r.PostForm.Get("code"))
	p.mu.Unlock()
	sum := sha256.Sum256([]byte(r.PostForm.Get("code_verifier")))
	_, secret, _ := r.BasicAuth()
	if secret, _ = url.QueryUnescape(secret); secret != t.client {
		writeJSON(a, http.StatusUnauthorized, map[string]any{"error": "invalid_client"})
		return
	}
	if request == nil || request.Get("code_challenge") != base64.RawURLEncoding.EncodeToString(sum[:]) {
		writeJSON(a, http.StatusBadRequest, map[string]any{"error": "invalid_grant"})
		return
	}
	person := cmp.Or(request.Get("login_hint"), "owner@"+t.emailDomain()) // the settings test sends no hint
	switch providerMode(p.mode.Load()) {
	case providerDropsReply:
		panic(http.ErrAbortHandler)
	case providerMixesUp:
		name, _, _ := strings.Cut(person, "@")
		person = name + "@" + w.otherTenant(t).emailDomain()
	default:
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: jose.JSONWebKey{Key: p.key, KeyID: "1"}}, nil)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	now := time.Now()
	token, err := jwt.Signed(signer).Claims(map[string]any{
		"iss": p.issuerURL(t), "aud": "patchbay", "sub": person, "nonce": request.Get("nonce"), "iat": now.Unix(), "exp": now.Add(5 * time.Minute).Unix(),
		"email": person, "email_verified": true, "name": "Somebody", "groups": []string{},
	}).Serialize()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	writeJSON(a, http.StatusOK, map[string]any{"access_token": plantedPrefix + rand.Text(), "token_type": "Bearer", "expires_in": 300, "id_token": token})
}
