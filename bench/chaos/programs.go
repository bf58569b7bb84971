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

// The authorization server's own words: for how long the refresh token before has the answer that it had, and where programs' answers go.
const (
	grace     = 10 * time.Second
	goesBack  = "http://127.0.0.1:9/callback"
	consents  = "authorization server, consent"
	tokenDoor = "authorization server, tokens"
)

// fate is what became of a program.
type fate int

const (
	unknown fate = iota // nobody knows: an answer was lost
	lives               // it has tokens, and nobody ended it
	left                // it signed out, and was told so
	caught              // somebody showed its code or an old token once more, and was refused: its access ended
	late                // the answer with its next token was lost for longer than the grace
)

// program is one that signs in at the gateway, as people's own do: it has no secret, but a line of refresh tokens that work once.
type program struct {
	tenant   *tenant
	id       string // of its registration
	resource string // its address at the gateway
	verifier string
	code     string
	access   string
	refresh  []string // the last one counts
	allowed  bool     // a person's yes was acknowledged
	fate     fate
	asked    time.Time // when the token that counts was first shown
	renewed  int
}

// programs are all of them.
type programs struct {
	mu      sync.Mutex // guards what follows
	all     []*program
	given   map[string]bool // the secret part of all that was given out
	renewed int
	again   int // answers that were lost, and asked for again with success
}

// comesAndGoes has one program after the other sign in, work, and end in one of four ways. Each time it is called it does some of that.
func (w *world) comesAndGoes(t *tenant) func(context.Context) {
	var p *program
	n := 0
	return func(ctx context.Context) {
		if p == nil || p.fate != lives {
			n++
			p = &program{tenant: t, resource: []string{"/mcp", "/mcp/work"}[n%2], verifier: rand.Text() + rand.Text()}
			if !w.registers(ctx, p) || !w.isLetIn(ctx, p) || !w.exchanges(ctx, p) {
				return
			}
		}
		w.isWhatItIs(ctx, p)
		w.callsAs(ctx, p)
		w.strays(ctx, p)
		w.renews(ctx, p, true)
		if p.renewed >= 6 && p.fate == lives {
			w.ends(ctx, p, n)
			p = nil
		}
	}
}

// said is what the authorization server answers, whatever it was asked.
type said struct {
	ClientID string `json:"client_id"`
	Access   string `json:"access_token"`
	Refresh  string `json:"refresh_token"`
	Error    string `json:"error"`
	Active   bool   `json:"active"`
}

// oauth posts a form to the authorization server.
func (w *world) oauth(ctx context.Context, t *tenant, path, key string, form url.Values) (int, said, error) {
	return w.tells(ctx, t, path, "application/x-www-form-urlencoded", key, form.Encode())
}

// tells posts, and reads the answer. Each request has a connection of its own: net/http would send some again on another one.
func (w *world) tells(ctx context.Context, t *tenant, path, kind, key, body string) (int, said, error) {
	var is said
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, w.next()+path, strings.NewReader(body))
	if err != nil {
		return 0, is, err
	}
	r.Close = true
	r.Header.Set("Content-Type", kind)
	r.Header.Set("X-Forwarded-For", somewhere())
	if key != "" {
		r.Header.Set("Authorization", "Bearer "+key)
	}
	status, text, err := churn.ReadAnswer(w.client.Do(r)) //nolint:bodyclose // ReadAnswer closes it
	if err == nil && json.Unmarshal(text, &is) != nil && status < 500 {
		w.tally.note("unclear", fmt.Sprintf("%s: %d %.300s", path, status, text))
	}
	w.heard(t, tokenDoor, status, text, err)
	w.programs.mu.Lock()
	defer w.programs.mu.Unlock()
	for _, token := range []string{is.Access, is.Refresh} {
		w.programs.given[secretPart(token)] = token != ""
	}
	return status, is, err
}

// somewhere is an address of somebody: strangers are counted by theirs.
func somewhere() string {
	b := make([]byte, 3)
	_, _ = rand.Read(b) // never fails
	return fmt.Sprintf("10.%d.%d.%d", b[0], b[1], b[2])
}

// secretPart is what of a code or token of ours is secret: <kind><id>_<secret>_<checksum>.
func secretPart(token string) string {
	parts := strings.Split(token, "_")
	if len(parts) != 5 {
		return ""
	}
	return parts[3]
}

func (w *world) registers(ctx context.Context, p *program) bool {
	status, is, err := w.tells(ctx, p.tenant, "/oauth/register", "application/json", "", `{"client_name":"Program `+p.tenant.mark+`","redirect_uris":["`+goesBack+`"]}`)
	if err == nil && status >= 400 && status < 500 {
		w.tally.note("refused", fmt.Sprintf("a registration: %d %s", status, is.Error))
	}
	p.id = is.ClientID
	return err == nil && status == http.StatusCreated
}

// isLetIn has the tenant's person read what the program asks for, and agree.
func (w *world) isLetIn(ctx context.Context, p *program) bool {
	sum := sha256.Sum256([]byte(p.verifier))
	asks := "/oauth/authorize?" + url.Values{
		"response_type": {"code"}, "client_id": {p.id}, "redirect_uri": {goesBack}, "state": {p.verifier[:8]}, "resource": {w.front.base + p.resource},
		"code_challenge": {base64.RawURLEncoding.EncodeToString(sum[:])}, "code_challenge_method": {"S256"},
	}.Encode()
	status, text, to, err := w.browse(ctx, p.tenant, http.MethodGet, asks, nil)
	w.met(p.tenant, consents, status, text, err)
	if strings.HasPrefix(to, "/confirm") { // by a clock that has jumped, the person signed in long ago
		w.confirms(ctx, p.tenant)
		return false
	}
	if err != nil || status != http.StatusOK {
		return false
	}
	w.programs.mu.Lock()
	w.programs.all = append(w.programs.all, p)
	w.programs.mu.Unlock()
	status, text, to, err = w.browse(ctx, p.tenant, http.MethodPost, asks, url.Values{"decision": {"allow"}, "tenant": {p.tenant.slug}, "agent": {"robot"}})
	w.met(p.tenant, consents, status, text, err)
	back, _ := url.Parse(to)
	if err != nil || status != http.StatusSeeOther || back == nil || strings.HasPrefix(to, "/confirm") {
		return false
	}
	if back.Query().Get("code") == "" || back.Query().Get("state") != p.verifier[:8] || back.Query().Get("iss") != w.front.base {
		w.tally.note("unclear", fmt.Sprintf("a person's yes led to %.200s", to))
		return false
	}
	p.code, p.allowed = back.Query().Get("code"), true
	w.acknowledged()
	w.programs.mu.Lock()
	defer w.programs.mu.Unlock()
	w.programs.given[secretPart(p.code)] = true
	return true
}

// confirms has the person say again who they are.
func (w *world) confirms(ctx context.Context, t *tenant) {
	status, text, _, err := w.browse(ctx, t, http.MethodPost, "/confirm", url.Values{"return_to": {"/"}, "confirm_password": {t.password}})
	w.met(t, consents, status, text, err)
}

// exchanges gets the first tokens. An answer that is lost is lost with its code: the program begins anew.
func (w *world) exchanges(ctx context.Context, p *program) bool {
	status, is, err := w.shows(ctx, p)
	switch {
	case err == nil && status == http.StatusOK && is.Access != "":
		p.fate, p.access, p.refresh = lives, is.Access, []string{is.Refresh}
	case err == nil && status < 500:
		w.tally.note("ended", fmt.Sprintf("a code that was shown for the first time: %d %s", status, is.Error))
	}
	return p.fate == lives
}

// shows shows the program's code.
func (w *world) shows(ctx context.Context, p *program) (int, said, error) {
	return w.oauth(ctx, p.tenant, "/oauth/token", "", url.Values{
		"grant_type": {"authorization_code"}, "client_id": {p.id}, "code": {p.code}, "redirect_uri": {goesBack}, "code_verifier": {p.verifier},
		"resource": {w.front.base + p.resource},
	})
}

// isWhatItIs asks what the program's token is: of its tenant's admin, and of another one's, who must not learn of it.
func (w *world) isWhatItIs(ctx context.Context, p *program) {
	for _, t := range w.tenants {
		began := time.Now()
		status, is, err := w.oauth(ctx, p.tenant, "/oauth/introspect", t.key, url.Values{"token": {p.access}})
		switch own := t == p.tenant; {
		case err != nil || status != http.StatusOK || own && !is.Active && !w.clocksRight(began):
		case own && (!is.Active || is.ClientID != p.id):
			w.tally.note("ended", fmt.Sprintf("an access token of %s is none, or another program's", p.tenant.slug))
		case !own && (is.Active || is.ClientID != ""):
			w.tally.note("crossed", fmt.Sprintf("%s learns what a token of %s is", t.slug, p.tenant.slug))
		}
	}
}

// callsAs calls a tool with the program's token, at its address.
func (w *world) callsAs(ctx context.Context, p *program) {
	const door = "gateway, as a program that signed in"
	name, began := "mcp_work__work", time.Now()
	if p.resource != "/mcp" {
		name = "work"
	}
	n := w.nextCall()
	status, text, err := w.toolCall(ctx, p.resource, p.access, name, n, false)
	if err == nil && status == http.StatusUnauthorized && !w.clocksRight(began) {
		w.tally.count(door, "told to renew its token, where the clock had jumped (401)")
		return
	}
	w.settleCall(p.tenant, door, n, status, text, err)
}

// strays shows the program's token where it is none.
func (w *world) strays(ctx context.Context, p *program) {
	for _, address := range []string{"/mcp", "/mcp/work", "/mcp/notes", "/mcp/admin"} {
		if address == p.resource {
			continue
		}
		name := "work"
		if address == "/mcp" {
			name = "mcp_work__work"
		}
		status, text, err := w.toolCall(ctx, address, p.access, name, w.nextCall(), false)
		w.heard(p.tenant, "gateway, with a token for another address", status, text, err)
		// Whoever shows many tokens that nobody knows is told to wait, whatever the next one is.
		if err == nil && status != http.StatusUnauthorized && status != http.StatusTooManyRequests && status < 500 {
			w.tally.note("strayed", fmt.Sprintf("a token for %s at %s: %d %.200s", p.resource, address, status, text))
		}
	}
}

// renews gets the next tokens. Of three answers the program hangs up on one, of four it asks for one with both hands; and it asks again, with
// the same token, until it is answered.
func (w *world) renews(ctx context.Context, p *program, roughly bool) {
	if p.asked.IsZero() {
		p.asked = time.Now()
	}
	again := false
	if roughly && p.renewed%3 == 1 {
		again = true
		w.hangsUp(ctx, p)
	}
	if roughly && p.renewed%4 == 3 {
		var other sync.WaitGroup
		defer other.Wait()
		other.Go(func() { w.takes(p, w.renewal(ctx, p), false) })
	}
	for tried := time.Now(); time.Since(tried) < 15*time.Second; again = true {
		if w.takes(p, w.renewal(ctx, p), again) {
			return
		}
		<-time.After(50 * time.Millisecond)
	}
}

// renewed is an answer to a refresh token.
type renewed struct {
	with   string // the token that was shown
	status int
	said
	err error
}

func (w *world) renewal(ctx context.Context, p *program) renewed {
	w.programs.mu.Lock()
	with := p.refresh[len(p.refresh)-1]
	w.programs.mu.Unlock()
	status, is, err := w.oauth(ctx, p.tenant, "/oauth/token", "", refreshes(p, with))
	return renewed{with, status, is, err}
}

func refreshes(p *program, token string) url.Values {
	return url.Values{"grant_type": {"refresh_token"}, "client_id": {p.id}, "refresh_token": {token}}
}

// takes notes an answer; it is true where there is no need to ask again.
func (w *world) takes(p *program, is renewed, again bool) bool {
	w.programs.mu.Lock()
	defer w.programs.mu.Unlock()
	switch {
	case is.err != nil || is.status >= 500:
		return false
	case is.status == http.StatusOK && is.Refresh != "":
		if p.access = is.Access; is.with != p.refresh[len(p.refresh)-1] { // the other hand was first
			return true
		}
		p.refresh, p.asked = append(p.refresh, is.Refresh), time.Time{}
		p.renewed++
		if w.programs.renewed++; again {
			w.programs.again++
		}
		return true
	case is.Error == "invalid_grant" && time.Since(p.asked) > grace:
		p.fate = late
	default:
		p.fate = unknown
		w.tally.note("ended", fmt.Sprintf("a refresh token that was first shown %v ago: %d %s", time.Since(p.asked).Round(time.Millisecond), is.status, is.Error))
	}
	return true
}

// hangsUp asks for tokens, and is gone when the request is written.
func (w *world) hangsUp(ctx context.Context, p *program) {
	ctx, hangUp := context.WithCancel(ctx)
	defer hangUp()
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteRequest: func(httptrace.WroteRequestInfo) {
		if p.renewed%2 == 0 {
			<-time.After(3 * time.Millisecond) // some are on their way by then, some are not
		}
		hangUp()
	}})
	w.renewal(ctx, p)
}

// ends ends a program in one of four ways: it stays; it signs out; somebody has its code; somebody has one of its old tokens.
func (w *world) ends(ctx context.Context, p *program, n int) {
	var status int
	var is said
	var err error
	thief := true
	switch n % 4 {
	case 0:
		return
	case 1:
		thief = false
		status, _, err = w.oauth(ctx, p.tenant, "/oauth/revoke", "", url.Values{"token": {p.refresh[len(p.refresh)-1]}, "client_id": {p.id}})
	case 2:
		status, is, err = w.shows(ctx, p)
	case 3:
		status, is, err = w.oauth(ctx, p.tenant, "/oauth/token", "", refreshes(p, p.refresh[len(p.refresh)-3]))
	}
	p.fate = unknown
	switch {
	case err != nil || status >= 500:
	case !thief && status == http.StatusOK:
		p.fate = left
		w.acknowledged()
	case thief && status == http.StatusBadRequest && is.Error == "invalid_grant":
		p.fate = caught
	default:
		w.tally.note("stolen", fmt.Sprintf("what was used before was answered %d %s", status, is.Error))
	}
}
