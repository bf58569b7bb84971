package oauthtest

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

func (s *Server) serveToken(w http.ResponseWriter, r *http.Request, request Request, b Behaviour) {
	if b.Hold != nil {
		select {
		case <-b.Hold:
		case <-r.Context().Done():
			return
		}
	}
	if b.RetryAfter != "" {
		w.Header().Set("Retry-After", b.RetryAfter)
	}
	if s.simulateFailure(w, r, b) {
		return
	}
	bound, ok := s.checkTokenProof(w, request, b)
	if !ok {
		return
	}
	s.mu.Lock()
	doc, refusal := s.issueToken(request, b, bound)
	s.mu.Unlock()
	switch {
	case b.Token == DropAfterEffect:
		resetConnection(w)
	case refusal == "":
		sendToken(w, doc, b.Answer)
	case b.Answer == ErrorAs200:
		writeError(w, http.StatusOK, refusal)
	case refusal == "invalid_client":
		writeError(w, http.StatusUnauthorized, refusal)
	default:
		writeError(w, http.StatusBadRequest, refusal)
	}
}

// simulateFailure reports whether it has answered, or will never.
func (s *Server) simulateFailure(w http.ResponseWriter, r *http.Request, b Behaviour) bool {
	switch b.Token {
	case NoTrouble, DropAfterEffect:
		return false
	case Hang:
		<-r.Context().Done()
	case Unavailable:
		writeError(w, http.StatusServiceUnavailable, "invalid_grant") // a gateway that repeats what it does not mean
	case ServerError:
		writeError(w, http.StatusInternalServerError, "server_error")
	case TooMany:
		writeError(w, http.StatusTooManyRequests, "slow_down")
	case Reset:
		resetConnection(w)
	case Page:
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, "<html>Just a moment…</html>")
	case Redirect:
		http.Redirect(w, r, s.Elsewhere, http.StatusTemporaryRedirect)
	case Endless:
		_, _ = io.WriteString(w, `{"access_token":"`+strings.Repeat("x", 2<<20)+`"}`)
	case Echo:
		echoRequest(w, r, http.StatusServiceUnavailable, "temporarily_unavailable", "token store is full ")
	case DeadEcho:
		echoRequest(w, r, http.StatusBadRequest, "invalid_grant", "consent was withdrawn ")
	case DeadGrant:
		writeError(w, http.StatusBadRequest, "invalid_grant")
	case DeadClient:
		writeError(w, http.StatusUnauthorized, "invalid_client")
	case ForbiddenClient:
		writeError(w, http.StatusBadRequest, "unauthorized_client")
	}
	return true
}

// echoRequest answers an error that repeats the request.
func echoRequest(w http.ResponseWriter, r *http.Request, status int, code, says string) {
	_ = r.ParseForm()
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{"error": code, "error_description": says + r.Form.Encode() + " " + r.Header.Get("Authorization")})
}

// issueToken gives a token, bound to a key's thumbprint or to none, or says with which error not. s.mu is held.
func (s *Server) issueToken(r Request, b Behaviour, bound string) (Document, string) {
	id, ok := s.authenticateClient(r, b)
	if !ok {
		return nil, "invalid_client"
	}
	resource := r.Form.Get("resource")
	if b.RefuseResource && resource != "" || b.NeedResource && resource == "" {
		return nil, "invalid_target"
	}
	switch r.Kind {
	case Exchange:
		c, ok := s.codes[r.Form.Get("code")]
		delete(s.codes, r.Form.Get("code"))
		sum := sha256.Sum256([]byte(r.Form.Get("code_verifier")))
		if !ok || c.client != id || c.redirect != r.Form.Get("redirect_uri") || c.resource != resource ||
			c.challenge != base64.RawURLEncoding.EncodeToString(sum[:]) {
			return nil, "invalid_grant"
		}
		return s.issueGrantTokens(&issuedGrant{client: id, resource: resource, scopes: c.scopes, bound: bound}, b), ""
	case Refresh:
		token := r.Form.Get("refresh_token")
		g, ok := s.refresh[token]
		if !ok || g.dead || g.client != id || g.resource != resource || g.bound != bound {
			return nil, "invalid_grant"
		}
		if b.Rotate && g.current != token {
			g.dead = true // reuse: one of the two holders is a thief
			return nil, "invalid_grant"
		}
		return s.issueGrantTokens(g, b), ""
	case ClientCredentials:
		b.NoRefreshToken = true
		return s.issueGrantTokens(&issuedGrant{client: id, resource: resource, scopes: strings.Fields(r.Form.Get("scope")), bound: bound}, b), ""
	}
	return nil, "unsupported_grant_type"
}

func (s *Server) issueGrantTokens(g *issuedGrant, b Behaviour) Document {
	token := s.newSecret("access")
	s.access[token] = &accessToken{grant: g, scopes: g.scopes, expires: time.Now().Add(time.Hour)}
	doc := Document{"access_token": token, "token_type": "bearer", "expires_in": 3600}
	if g.bound != "" {
		doc["token_type"] = "DPoP"
	}
	if len(g.scopes) > 0 {
		doc["scope"] = strings.Join(g.scopes, " ")
	}
	if b.ExpiresIn != nil {
		doc["expires_in"] = b.ExpiresIn
	}
	if b.ExpiresIn == NoExpiresIn {
		delete(doc, "expires_in")
	}
	if b.IDToken != nil {
		doc["id_token"] = s.idToken(b.IDToken)
	}
	first := g.current == ""
	if first && !b.NoRefreshToken || !first && b.Rotate {
		g.current = s.newSecret("refresh")
		s.refresh[g.current] = g
		doc["refresh_token"] = g.current
	}
	return doc
}

// idToken signs claims with a random key. s.mu is held.
func (s *Server) idToken(claims Document) string {
	token, err := jwt.NewWithClaims(jwt.SigningMethodHS256, jwt.MapClaims(claims)).SignedString([]byte(rand.Text()))
	if err != nil {
		panic(err) // claims of a test that are no JSON
	}
	s.issued = append(s.issued, token)
	return token
}

// authenticateClient tells which client sends a token request, if it proves itself as it was registered. s.mu is held.
func (s *Server) authenticateClient(r Request, b Behaviour) (id string, ok bool) {
	id, secret := r.Form.Get("client_id"), r.Form.Get("client_secret")
	used := "none"
	if secret != "" {
		used = "client_secret_post"
	}
	if pair, is := strings.CutPrefix(r.Header.Get("Authorization"), "Basic "); is {
		used = "client_secret_basic"
		id, secret, _ = strings.Cut(decodeBasic(pair), ":")
		id, _ = url.QueryUnescape(id)
		secret, _ = url.QueryUnescape(secret)
	}
	if assertion := r.Form.Get("client_assertion"); assertion != "" {
		return s.verifyAssertion(assertion)
	}
	if b.ClientDocuments && strings.HasPrefix(id, "https://") {
		return id, used == "none"
	}
	c, ok := s.clients[id]
	return id, ok && c.secret == secret && (c.method == "" || c.method == used)
}

func decodeBasic(pair string) string {
	text, err := base64.StdEncoding.DecodeString(pair)
	if err != nil {
		return ""
	}
	return string(text)
}

// verifyAssertion checks an assertion (RFC 7523 §3).
func (s *Server) verifyAssertion(assertion string) (id string, ok bool) {
	var claims jwt.RegisteredClaims
	_, err := jwt.ParseWithClaims(assertion, &claims, func(*jwt.Token) (any, error) {
		if c, ok := s.clients[claims.Subject]; ok && c.key != nil {
			return c.key, nil
		}
		return nil, jwt.ErrTokenUnverifiable
	}, jwt.WithAudience(s.Issuer), jwt.WithExpirationRequired(), jwt.WithIssuedAt())
	return claims.Subject, err == nil && claims.Issuer == claims.Subject && claims.ID != ""
}

func (s *Server) serveRevoke(w http.ResponseWriter, r Request, b Behaviour) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.authenticateClient(r, b); !ok {
		writeError(w, http.StatusUnauthorized, "invalid_client")
		return
	}
	token := r.Form.Get("token")
	if g, ok := s.refresh[token]; ok {
		g.dead = true
	}
	delete(s.access, token)
	w.WriteHeader(http.StatusOK)
}

func sendToken(w http.ResponseWriter, doc Document, form Answer) {
	switch form {
	case Form:
		values := url.Values{}
		for name, v := range doc {
			values.Set(name, fmt.Sprint(v))
		}
		w.Header().Set("Content-Type", "application/x-www-form-urlencoded")
		_, _ = io.WriteString(w, values.Encode())
	case Nested:
		doc["token_type"] = "user"
		sendJSON(w, http.StatusOK, Document{"ok": true, "app_id": "A1", "authed_user": doc})
	case NestedData:
		sendJSON(w, http.StatusOK, Document{"success": true, "data": doc})
	default:
		sendJSON(w, http.StatusOK, doc)
	}
}

// resetConnection ends a connection without an answer.
func resetConnection(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}
