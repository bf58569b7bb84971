package main

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync"
	"time"

	"patchbay/bench/churn"
)

// The authorization server's: how long an old refresh token repeats its response, and the redirect URI.
const (
	refreshGrace = 10 * time.Second
	callbackURL  = "http://127.0.0.1:9/callback"
	consentDoor  = "authorization server, consent"
	tokenDoor    = "authorization server, tokens"
)

type programState int

const (
	programUnknown   programState = iota // a response was lost
	programActive                        // has tokens
	programSignedOut                     // revoked its token, acknowledged
	programRevoked                       // its code or an old token was used again, which ended its access
	programTooLate                       // its next token was lost for longer than refreshGrace
)

// oauthProgram is a public client with rotating refresh tokens.
type oauthProgram struct {
	tenant     *tenant
	id         string // client id
	resource   string // path at the gateway
	verifier   string
	code       string
	access     string
	refresh    []string // the last one is valid
	allowed    bool     // consent was acknowledged
	state      programState
	firstShown time.Time // first use of the valid token
	refreshes  int
}

type programLog struct {
	mu      sync.Mutex // guards the fields below
	all     []*oauthProgram
	issued  map[string]bool // secret parts of issued codes and tokens
	renewed int
	retried int // refreshes that succeeded on retry
}

// programLoop runs one program after another: sign in, work, end. Each call does one part.
func (w *world) programLoop(t *tenant) func(context.Context) {
	var p *oauthProgram
	n := 0
	return func(ctx context.Context) {
		if p == nil || p.state != programActive {
			n++
			p = &oauthProgram{tenant: t, resource: []string{"/mcp", "/mcp/work"}[n%2], verifier: rand.Text() + rand.Text()}
			if !w.registerProgram(ctx, p) || !w.allowProgram(ctx, p) || !w.exchangeCode(ctx, p) {
				return
			}
		}
		w.introspectToken(ctx, p)
		w.callAsProgram(ctx, p)
		w.useElsewhere(ctx, p)
		w.refreshToken(ctx, p, true)
		if p.refreshes >= 6 && p.state == programActive {
			w.endProgram(ctx, p, n)
			p = nil
		}
	}
}

type oauthReply struct {
	ClientID string `json:"client_id"`
	Access   string `json:"access_token"`
	Refresh  string `json:"refresh_token"`
	Error    string `json:"error"`
	Active   bool   `json:"active"`
}

func (w *world) postForm(ctx context.Context, t *tenant, path, key string, form url.Values) (int, oauthReply, error) {
	return w.postOAuth(ctx, t, path, "application/x-www-form-urlencoded", key, form.Encode())
}

// postOAuth posts on a connection of its own: net/http would retry some requests.
func (w *world) postOAuth(ctx context.Context, t *tenant, path, kind, key, body string) (int, oauthReply, error) {
	var parsed oauthReply
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, w.nextReplica()+path, strings.NewReader(body))
	if err != nil {
		return 0, parsed, err
	}
	r.Close = true
	r.Header.Set("Content-Type", kind)
	r.Header.Set("X-Forwarded-For", randomAddress())
	if key != "" {
		r.Header.Set("Authorization", "Bearer "+key)
	}
	status, text, err := churn.ReadAnswer(w.client.Do(r)) //nolint:bodyclose // ReadAnswer closes it
	if err == nil && json.Unmarshal(text, &parsed) != nil && status < 500 {
		w.tally.recordProblem("unclear", fmt.Sprintf("%s: %d %.300s", path, status, text))
	}
	w.inspectResponse(t, tokenDoor, status, text, err)
	w.programs.mu.Lock()
	defer w.programs.mu.Unlock()
	for _, token := range []string{parsed.Access, parsed.Refresh} {
		w.programs.issued[secretPart(token)] = token != ""
	}
	return status, parsed, err
}

// randomAddress avoids the rate limit of unknown clients, which counts addresses.
func randomAddress() string {
	b := make([]byte, 3)
	_, _ = rand.Read(b) // never fails
	return fmt.Sprintf("10.%d.%d.%d", b[0], b[1], b[2])
}

// secretPart is the secret of a code or token: <kind><id>_<secret>_<checksum>.
func secretPart(token string) string {
	parts := strings.Split(token, "_")
	if len(parts) != 5 {
		return ""
	}
	return parts[3]
}

func (w *world) registerProgram(ctx context.Context, p *oauthProgram) bool {
	status, reply, err := w.postOAuth(ctx, p.tenant, "/oauth/register", "application/json", "", `{"client_name":"Program `+p.tenant.mark+`","redirect_uris":["`+callbackURL+`"]}`)
	if err == nil && status >= 400 && status < 500 {
		w.tally.recordProblem("refused", fmt.Sprintf("a registration: %d %s", status, reply.Error))
	}
	p.id = reply.ClientID
	return err == nil && status == http.StatusCreated
}

// allowProgram gives consent as the tenant's person.
func (w *world) allowProgram(ctx context.Context, p *oauthProgram) bool {
	sum := sha256.Sum256([]byte(p.verifier))
	authorizePath := "/oauth/authorize?" + url.Values{
		"response_type": {"code"}, "client_id": {p.id}, "redirect_uri": {callbackURL}, "state": {p.verifier[:8]}, "resource": {w.front.base + p.resource},
		"code_challenge": {base64.RawURLEncoding.EncodeToString(sum[:])}, "code_challenge_method": {"S256"},
	}.Encode()
	status, text, location, err := w.browserRequest(ctx, p.tenant, http.MethodGet, authorizePath, nil)
	w.addResponse(p.tenant, consentDoor, status, text, err)
	if strings.HasPrefix(location, "/confirm") { // by the moved clock the last sign-in is too old
		w.confirmPassword(ctx, p.tenant)
		return false
	}
	if err != nil || status != http.StatusOK {
		return false
	}
	w.programs.mu.Lock()
	w.programs.all = append(w.programs.all, p)
	w.programs.mu.Unlock()
	status, text, location, err = w.browserRequest(ctx, p.tenant, http.MethodPost, authorizePath, url.Values{"decision": {"allow"}, "tenant": {p.tenant.slug}, "agent": {"robot"}})
	w.addResponse(p.tenant, consentDoor, status, text, err)
	callback, _ := url.Parse(location)
	if err != nil || status != http.StatusSeeOther || callback == nil || strings.HasPrefix(location, "/confirm") {
		return false
	}
	if callback.Query().Get("code") == "" || callback.Query().Get("state") != p.verifier[:8] || callback.Query().Get("iss") != w.front.base {
		w.tally.recordProblem("unclear", fmt.Sprintf("a person's yes led to %.200s", location))
		return false
	}
	p.code, p.allowed = callback.Query().Get("code"), true
	w.countAcknowledged()
	w.programs.mu.Lock()
	defer w.programs.mu.Unlock()
	w.programs.issued[secretPart(p.code)] = true
	return true
}

func (w *world) confirmPassword(ctx context.Context, t *tenant) {
	status, text, _, err := w.browserRequest(ctx, t, http.MethodPost, "/confirm", url.Values{"return_to": {"/"}, "confirm_password": {t.password}})
	w.addResponse(t, consentDoor, status, text, err)
}

// exchangeCode requests the first tokens. If the response is lost, so is the code.
func (w *world) exchangeCode(ctx context.Context, p *oauthProgram) bool {
	status, reply, err := w.redeemCode(ctx, p)
	switch {
	case err == nil && status == http.StatusOK && reply.Access != "":
		p.state, p.access, p.refresh = programActive, reply.Access, []string{reply.Refresh}
	case err == nil && status < 500:
		w.tally.recordProblem("ended", fmt.Sprintf("a code that was shown for the first time: %d %s", status, reply.Error))
	}
	return p.state == programActive
}

func (w *world) redeemCode(ctx context.Context, p *oauthProgram) (int, oauthReply, error) {
	return w.postForm(ctx, p.tenant, "/oauth/token", "", url.Values{
		"grant_type": {"authorization_code"}, "client_id": {p.id}, "code": {p.code}, "redirect_uri": {callbackURL}, "code_verifier": {p.verifier},
		"resource": {w.front.base + p.resource},
	})
}

// introspectToken introspects the token with the tenant's key, and with another tenant's, which must not see
// it.
func (w *world) introspectToken(ctx context.Context, p *oauthProgram) {
	for _, t := range w.tenants {
		start := time.Now()
		status, reply, err := w.postForm(ctx, p.tenant, "/oauth/introspect", t.key, url.Values{"token": {p.access}})
		switch isOwner := t == p.tenant; {
		case err != nil || status != http.StatusOK || isOwner && !reply.Active && !w.clocksAreRight(start):
		case isOwner && (!reply.Active || reply.ClientID != p.id):
			w.tally.recordProblem("ended", fmt.Sprintf("an access token of %s is none, or another program's", p.tenant.slug))
		case !isOwner && (reply.Active || reply.ClientID != ""):
			w.tally.recordProblem("crossed", fmt.Sprintf("%s learns what a token of %s is", t.slug, p.tenant.slug))
		}
	}
}

func (w *world) callAsProgram(ctx context.Context, p *oauthProgram) {
	const door = "gateway, as a program that signed in"
	name, start := "mcp_work__work", time.Now()
	if p.resource != "/mcp" {
		name = "work"
	}
	n := w.nextCall()
	status, text, err := w.sendToolCall(ctx, p.resource, p.access, name, n, false)
	if err == nil && status == http.StatusUnauthorized && !w.clocksAreRight(start) {
		w.tally.countOutcome(door, "told to renew its token, where the clock had jumped (401)")
		return
	}
	w.recordCall(p.tenant, door, n, status, text, err)
}

// useElsewhere sends the token to other resources.
func (w *world) useElsewhere(ctx context.Context, p *oauthProgram) {
	for _, address := range []string{"/mcp", "/mcp/work", "/mcp/notes", "/mcp/admin"} {
		if address == p.resource {
			continue
		}
		name := "work"
		if address == "/mcp" {
			name = "mcp_work__work"
		}
		status, text, err := w.sendToolCall(ctx, address, p.access, name, w.nextCall(), false)
		w.inspectResponse(p.tenant, "gateway, with a token for another address", status, text, err)
		// many unknown tokens from one client are rate-limited
		if err == nil && status != http.StatusUnauthorized && status != http.StatusTooManyRequests && status < 500 {
			w.tally.recordProblem("strayed", fmt.Sprintf("a token for %s at %s: %d %.200s", p.resource, address, status, text))
		}
	}
}

// refreshToken refreshes until a response arrives. With faults, it sometimes drops the first response, or sends
// two requests at once.
func (w *world) refreshToken(ctx context.Context, p *oauthProgram, withFaults bool) {
	if p.firstShown.IsZero() {
		p.firstShown = time.Now()
	}
	isRetry := false
	if withFaults && p.refreshes%3 == 1 {
		isRetry = true
		w.refreshAndHangUp(ctx, p)
	}
	if withFaults && p.refreshes%4 == 3 {
		var concurrent sync.WaitGroup
		defer concurrent.Wait()
		concurrent.Go(func() { w.applyRefresh(p, w.sendRefresh(ctx, p), false) })
	}
	for start := time.Now(); time.Since(start) < 15*time.Second; isRetry = true {
		if w.applyRefresh(p, w.sendRefresh(ctx, p), isRetry) {
			return
		}
		<-time.After(50 * time.Millisecond)
	}
}

type refreshReply struct {
	with   string // the sent refresh token
	status int
	oauthReply
	err error
}

func (w *world) sendRefresh(ctx context.Context, p *oauthProgram) refreshReply {
	w.programs.mu.Lock()
	token := p.refresh[len(p.refresh)-1]
	w.programs.mu.Unlock()
	status, reply, err := w.postForm(ctx, p.tenant, "/oauth/token", "", refreshForm(p, token))
	return refreshReply{token, status, reply, err}
}

func refreshForm(p *oauthProgram, token string) url.Values {
	return url.Values{"grant_type": {"refresh_token"}, "client_id": {p.id}, "refresh_token": {token}}
}

// applyRefresh applies a reply, and reports whether no retry is needed.
func (w *world) applyRefresh(p *oauthProgram, reply refreshReply, isRetry bool) bool {
	w.programs.mu.Lock()
	defer w.programs.mu.Unlock()
	switch {
	case reply.err != nil || reply.status >= 500:
		return false
	case reply.status == http.StatusOK && reply.Refresh != "":
		if p.access = reply.Access; reply.with != p.refresh[len(p.refresh)-1] { // the concurrent request was first
			return true
		}
		p.refresh, p.firstShown = append(p.refresh, reply.Refresh), time.Time{}
		p.refreshes++
		if w.programs.renewed++; isRetry {
			w.programs.retried++
		}
		return true
	case reply.Error == "invalid_grant" && time.Since(p.firstShown) > refreshGrace:
		p.state = programTooLate
	default:
		p.state = programUnknown
		w.tally.recordProblem("ended", fmt.Sprintf("a refresh token that was first shown %v ago: %d %s", time.Since(p.firstShown).Round(time.Millisecond), reply.status, reply.Error))
	}
	return true
}

// refreshAndHangUp sends a refresh, and closes without reading the response.
func (w *world) refreshAndHangUp(ctx context.Context, p *oauthProgram) {
	ctx, hangUp := context.WithCancel(ctx)
	defer hangUp()
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteRequest: func(httptrace.WroteRequestInfo) {
		if p.refreshes%2 == 0 {
			<-time.After(3 * time.Millisecond) // before or after the response
		}
		hangUp()
	}})
	w.sendRefresh(ctx, p)
}

// endProgram ends in one of four ways: not at all, by revocation, by reuse of its code, or by reuse of an old
// token.
func (w *world) endProgram(ctx context.Context, p *oauthProgram, n int) {
	var status int
	var reply oauthReply
	var err error
	isTheft := true
	switch n % 4 {
	case 0:
		return
	case 1:
		isTheft = false
		status, _, err = w.postForm(ctx, p.tenant, "/oauth/revoke", "", url.Values{"token": {p.refresh[len(p.refresh)-1]}, "client_id": {p.id}})
	case 2:
		status, reply, err = w.redeemCode(ctx, p)
	case 3:
		status, reply, err = w.postForm(ctx, p.tenant, "/oauth/token", "", refreshForm(p, p.refresh[len(p.refresh)-3]))
	}
	p.state = programUnknown
	switch {
	case err != nil || status >= 500:
	case !isTheft && status == http.StatusOK:
		p.state = programSignedOut
		w.countAcknowledged()
	case isTheft && status == http.StatusBadRequest && reply.Error == "invalid_grant":
		p.state = programRevoked
	default:
		w.tally.recordProblem("stolen", fmt.Sprintf("what was used before was answered %d %s", status, reply.Error))
	}
}
