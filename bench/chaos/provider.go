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

// providing is how the organisations' OpenID provider answers.
type providing int32

const (
	provides providing = iota
	fails              // 500, whatever it is asked
	sleeps             // nothing until it is over
	forgets            // the code is used up, and the answer is lost
	strays             // it says that somebody of another organisation signed in
)

// provider is an OpenID provider with an issuer for each tenant. It agrees to every sign-in at once: it takes people for whom they say they are.
type provider struct {
	base   string
	key    *ecdsa.PrivateKey
	serve  *http.Server
	now    atomic.Int32
	shifts atomic.Int64 // how often it has changed

	mu    sync.Mutex // guards codes
	codes map[string]url.Values
}

func newProvider(ctx context.Context, w *world) (*provider, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	var on net.ListenConfig
	listener, err := on.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &provider{base: "http://" + listener.Addr().String(), key: key, codes: map[string]url.Values{}}
	mux := http.NewServeMux()
	for _, t := range w.tenants {
		at, issuer := "/"+t.slug, p.issuer(t)
		mux.HandleFunc("GET "+at+"/.well-known/openid-configuration", func(a http.ResponseWriter, _ *http.Request) {
			reply(a, http.StatusOK, map[string]any{
				"issuer": issuer, "authorization_endpoint": issuer + "/authorize", "token_endpoint": issuer + "/token", "jwks_uri": issuer + "/keys",
				"id_token_signing_alg_values_supported": []string{"ES256"}, "code_challenge_methods_supported": []string{"S256"},
			})
		})
		mux.HandleFunc("GET "+at+"/keys", func(a http.ResponseWriter, _ *http.Request) {
			reply(a, http.StatusOK, jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: key.Public(), KeyID: "1", Algorithm: "ES256", Use: "sig"}}})
		})
		mux.HandleFunc("GET "+at+"/authorize", func(a http.ResponseWriter, r *http.Request) { p.authorize(a, r) })
		mux.HandleFunc("POST "+at+"/token", func(a http.ResponseWriter, r *http.Request) { p.token(w, t, a, r) })
	}
	p.serve = &http.Server{Handler: p.minded(mux), ReadHeaderTimeout: time.Minute}
	go func() { _ = p.serve.Serve(listener) }()
	return p, nil
}

func (p *provider) issuer(t *tenant) string { return p.base + "/" + t.slug }

func (p *provider) is(how providing) {
	p.now.Store(int32(how))
	p.shifts.Add(1)
}

// minded answers in the manner of the moment.
func (p *provider) minded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(a http.ResponseWriter, r *http.Request) {
		switch providing(p.now.Load()) {
		case fails:
			http.Error(a, "not now", http.StatusInternalServerError)
		case sleeps:
			for providing(p.now.Load()) == sleeps && r.Context().Err() == nil {
				<-time.After(20 * time.Millisecond)
			}
			panic(http.ErrAbortHandler)
		default:
			next.ServeHTTP(a, r)
		}
	})
}

func reply(a http.ResponseWriter, status int, v any) {
	a.Header().Set("Content-Type", "application/json")
	a.WriteHeader(status)
	_ = json.NewEncoder(a).Encode(v)
}

func (p *provider) authorize(a http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	code := planted + rand.Text()
	p.mu.Lock()
	p.codes[code] = q
	p.mu.Unlock()
	http.Redirect(a, r, q.Get("redirect_uri")+"?"+url.Values{"code": {code}, "state": {q.Get("state")}}.Encode(), http.StatusFound)
}

// token gives an id token for a code, once.
func (p *provider) token(w *world, t *tenant, a http.ResponseWriter, r *http.Request) {
	_ = r.ParseForm()
	p.mu.Lock()
	asked := p.codes[r.PostForm.Get("code")]
	delete(p.codes, r.PostForm.Get("code"))
	p.mu.Unlock()
	sum := sha256.Sum256([]byte(r.PostForm.Get("code_verifier")))
	_, secret, _ := r.BasicAuth()
	if secret, _ = url.QueryUnescape(secret); secret != t.client {
		reply(a, http.StatusUnauthorized, map[string]any{"error": "invalid_client"})
		return
	}
	if asked == nil || asked.Get("code_challenge") != base64.RawURLEncoding.EncodeToString(sum[:]) {
		reply(a, http.StatusBadRequest, map[string]any{"error": "invalid_grant"})
		return
	}
	person := cmp.Or(asked.Get("login_hint"), "owner@"+t.domain()) // an owner who tries the settings gives no hint
	switch providing(p.now.Load()) {
	case forgets:
		panic(http.ErrAbortHandler)
	case strays:
		name, _, _ := strings.Cut(person, "@")
		person = name + "@" + w.other(t).domain()
	default:
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: jose.JSONWebKey{Key: p.key, KeyID: "1"}}, nil)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	now := time.Now()
	token, err := jwt.Signed(signer).Claims(map[string]any{
		"iss": p.issuer(t), "aud": "patchbay", "sub": person, "nonce": asked.Get("nonce"), "iat": now.Unix(), "exp": now.Add(5 * time.Minute).Unix(),
		"email": person, "email_verified": true, "name": "Somebody", "groups": []string{},
	}).Serialize()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	reply(a, http.StatusOK, map[string]any{"access_token": planted + rand.Text(), "token_type": "Bearer", "expires_in": 300, "id_token": token})
}
