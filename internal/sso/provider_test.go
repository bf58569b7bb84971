package sso_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
)

// idp is a small OpenID provider that lies on request. It agrees to every sign-in at once.
type idp struct {
	*httptest.Server
	key *ecdsa.PrivateKey

	mu    sync.Mutex
	says  lies                  // guarded by mu
	codes map[string]url.Values // guarded by mu: what was asked for with each
	asked []url.Values          // guarded by mu: the token requests
}

// lies are what the provider says otherwise than it should. The zero value is an honest one.
type lies struct {
	person map[string]any                // claims of the person; nil: Ada's
	token  func(claims map[string]any)   // has the last word on the id token
	answer func(answer url.Values)       // likewise on what comes back by the browser
	meta   func(document map[string]any) // likewise on the metadata
	info   map[string]any                // what UserInfo says; nil: there is none
	signer *ecdsa.PrivateKey             // of the id token; nil: the right one
	none   bool                          // the token endpoint sends no id token
	status int                           // the token endpoint answers so, with code
	code   string
}

const clientSecret = "the client's secret"

func newIDP(t *testing.T) *idp {
	t.Helper()
	p := &idp{key: newKey(t), codes: map[string]url.Values{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", p.metadata)
	mux.HandleFunc("GET /keys", p.keys)
	mux.HandleFunc("GET /authorize", p.authorize)
	mux.HandleFunc("POST /token", p.token)
	mux.HandleFunc("GET /userinfo", p.userinfo)
	p.Server = httptest.NewServer(mux)
	t.Cleanup(p.Close)
	return p
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func (p *idp) lie(l lies) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.says = l
}

func (p *idp) now() lies {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.says
}

func answerJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

func (p *idp) metadata(w http.ResponseWriter, _ *http.Request) {
	says := p.now()
	doc := map[string]any{
		"issuer": p.URL, "authorization_endpoint": p.URL + "/authorize", "token_endpoint": p.URL + "/token", "jwks_uri": p.URL + "/keys",
		"id_token_signing_alg_values_supported": []string{"ES256"}, "code_challenge_methods_supported": []string{"S256"},
		"authorization_response_iss_parameter_supported": true, "scopes_supported": []string{"openid", "email", "groups", "offline_access"},
	}
	if says.info != nil {
		doc["userinfo_endpoint"] = p.URL + "/userinfo"
	}
	if says.meta != nil {
		says.meta(doc)
	}
	answerJSON(w, http.StatusOK, doc)
}

func (p *idp) keys(w http.ResponseWriter, _ *http.Request) {
	// The first key takes the library minutes, see jws.ErrUnsafeKey.
	private := map[string]string{"kty": "RSA", "n": "Dw", "e": "AQAB", "d": "Aw", "q": "Aw", "p": strings.Repeat("z", 20_000)}
	answerJSON(w, http.StatusOK, map[string]any{"KEYS": []any{private}, "keys": []any{private, jose.JSONWebKey{Key: p.key.Public(), KeyID: "1", Algorithm: "ES256", Use: "sig"}}})
}

func (p *idp) authorize(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	if q.Get("response_type") != "code" || q.Get("code_challenge_method") != "S256" || q.Get("nonce") == "" || q.Get("state") == "" {
		http.Error(w, "no sign-in", http.StatusBadRequest)
		return
	}
	code := rand.Text()
	p.mu.Lock()
	p.codes[code] = q
	says := p.says
	p.mu.Unlock()
	answer := url.Values{"code": {code}, "state": {q.Get("state")}, "iss": {p.URL}}
	if says.answer != nil {
		says.answer(answer)
	}
	http.Redirect(w, r, q.Get("redirect_uri")+"?"+answer.Encode(), http.StatusFound)
}

func (p *idp) token(w http.ResponseWriter, r *http.Request) {
	_ = r.ParseForm()
	p.mu.Lock()
	p.asked = append(p.asked, r.PostForm)
	says, begun, ok := p.says, p.codes[r.PostForm.Get("code")], false
	if begun != nil {
		delete(p.codes, r.PostForm.Get("code"))
		sum := sha256.Sum256([]byte(r.PostForm.Get("code_verifier")))
		ok = begun.Get("code_challenge") == base64.RawURLEncoding.EncodeToString(sum[:]) && begun.Get("redirect_uri") == r.PostForm.Get("redirect_uri")
	}
	p.mu.Unlock()
	id, password, _ := r.BasicAuth()
	if secret, _ := url.QueryUnescape(password); secret != clientSecret {
		answerJSON(w, http.StatusUnauthorized, map[string]any{"error": "invalid_client"})
		return
	}
	if !ok {
		answerJSON(w, http.StatusBadRequest, map[string]any{"error": "invalid_grant"})
		return
	}
	if says.status != 0 {
		answerJSON(w, says.status, map[string]any{"error": says.code, "error_description": "REFLECTED"})
		return
	}
	answer := map[string]any{"access_token": "an access token", "token_type": "Bearer", "expires_in": 60, "id_token": p.idToken(says, id, begun.Get("nonce"))}
	if says.none {
		delete(answer, "id_token")
	}
	answerJSON(w, http.StatusOK, answer)
}

func ada() map[string]any {
	return map[string]any{"sub": "ada-1", "email": "Ada@acme.example", "email_verified": true, "name": "Ada Lovelace", "groups": []string{"engineers"}}
}

func (p *idp) idToken(says lies, client, nonce string) string {
	now := time.Now()
	claims := map[string]any{"iss": p.URL, "aud": client, "nonce": nonce, "iat": now.Unix(), "exp": now.Add(time.Minute).Unix()}
	person := says.person
	if person == nil {
		person = ada()
	}
	maps.Copy(claims, person)
	if says.token != nil {
		says.token(claims)
	}
	key := p.key
	if says.signer != nil {
		key = says.signer
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: jose.JSONWebKey{Key: key, KeyID: "1"}}, nil)
	if err != nil {
		panic(err)
	}
	raw, err := jwt.Signed(signer).Claims(claims).Serialize()
	if err != nil {
		panic(err)
	}
	return raw
}

func (p *idp) userinfo(w http.ResponseWriter, _ *http.Request) {
	answerJSON(w, http.StatusOK, p.now().info)
}
