package authserver_test

import (
	"bytes"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-chi/chi/v5"

	"patchbay/internal/auth"
	"patchbay/internal/authserver"
	"patchbay/internal/connectors"
	"patchbay/internal/safehttp"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
)

const (
	baseURL  = "https://patchbay.example.com"
	callback = "http://127.0.0.1:7777/callback"
	verifier = "a-verifier-of-more-than-forty-three-characters-0123456789"
)

// town is a world with an authorization server, and a program's web site.
type town struct {
	*fixture.World
	t        *testing.T
	programs *authserver.Server
	auth     *auth.Service
	router   chi.Router
	ahead    atomic.Int64
	ada      auth.Actor // an admin
	agent    connectors.Agent

	site *httptest.Server
	page atomic.Pointer[http.HandlerFunc] // what the site serves
}

func newTown(t *testing.T) *town {
	t.Helper()
	w := &town{World: fixture.New(t), t: t}
	w.site = httptest.NewTLSServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) { (*w.page.Load())(rw, r) }))
	t.Cleanup(w.site.Close)
	roots := x509.NewCertPool()
	roots.AddCert(w.site.Certificate())
	egress := safehttp.New(safehttp.Options{Mode: safehttp.Local, RootCAs: roots, UserAgent: "Patchbay/test"})
	t.Cleanup(egress.Client().CloseIdleConnections)
	w.auth = auth.New(auth.Options{Store: w.St, Now: w.now})
	w.programs = w.server(egress)
	w.router = chi.NewRouter()
	w.programs.Mount(w.router)
	w.ada = w.person(w.Tenant, connectors.RoleAdmin)
	w.agent = w.Agent(t)
	return w
}

func (w *town) now() time.Time { return time.Now().Add(time.Duration(w.ahead.Load())) }

// later moves the clock of the process.
func (w *town) later(d time.Duration) { w.ahead.Add(int64(d)) }

// passes lets time pass everywhere: for what is stored, by the clock of the database, too.
func (w *town) passes(d time.Duration) {
	w.t.Helper()
	w.later(d)
	ago := []any{d.Seconds()}
	w.AsSystem(w.t, `update agent_clients set created_at = created_at - make_interval(secs => $1), code_expires_at = code_expires_at - make_interval(secs => $1),
		rotated_at = rotated_at - make_interval(secs => $1), expires_at = expires_at - make_interval(secs => $1)`, ago)
	w.AsSystem(w.t, `update agent_tokens set created_at = created_at - make_interval(secs => $1)`, ago)
	w.AsSystem(w.t, `update member_tokens set created_at = created_at - make_interval(secs => $1), expires_at = expires_at - make_interval(secs => $1)`, ago)
	w.AsSystem(w.t, `update sso_identities set signed_in_at = signed_in_at - make_interval(secs => $1)`, ago)
}

func (w *town) server(egress *safehttp.Policy) *authserver.Server {
	return authserver.New(authserver.Options{
		Store: w.St, Auth: w.auth, HTTP: egress.Client(), CheckURL: egress.CheckURL, BaseURL: baseURL, Now: w.now,
	})
}

func (w *town) person(tenant connectors.TenantID, role connectors.Role) auth.Actor {
	w.t.Helper()
	m := w.MemberIn(w.t, tenant, role)
	self, err := w.St.Tenant(tenant).Self(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	return auth.Actor{Kind: auth.KindPerson, Tenant: self, Role: role, UserID: &m.UserID, Name: m.DisplayName(), Email: m.Email}
}

// reply is what a program is answered.
type reply struct {
	Status int
	Header http.Header
	JSON   map[string]any
}

func (r reply) text(name string) string {
	s, _ := r.JSON[name].(string)
	return s
}

func (w *town) send(path, media, body string, headers ...string) reply {
	w.t.Helper()
	req := httptest.NewRequestWithContext(w.t.Context(), http.MethodPost, baseURL+path, strings.NewReader(body))
	req.RemoteAddr = "192.0.2.1:1234"
	req.Header.Set("Content-Type", media)
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
		if headers[i] == "From" {
			req.RemoteAddr = headers[i+1]
		}
	}
	rec := httptest.NewRecorder()
	w.router.ServeHTTP(rec, req)
	out := reply{Status: rec.Code, Header: rec.Header(), JSON: map[string]any{}}
	if err := json.Unmarshal(bytes.TrimSpace(rec.Body.Bytes()), &out.JSON); err != nil {
		w.t.Fatalf("%s answers %d %q: %v", path, rec.Code, rec.Body, err)
	}
	return out
}

func (w *town) post(path string, form url.Values, headers ...string) reply {
	w.t.Helper()
	return w.send(path, "application/x-www-form-urlencoded", form.Encode(), headers...)
}

// registers is a program that registers itself.
func (w *town) registers(redirects ...string) string {
	w.t.Helper()
	body, err := json.Marshal(map[string]any{"client_name": "Inspector", "redirect_uris": redirects})
	if err != nil {
		w.t.Fatal(err)
	}
	r := w.send("/oauth/register", "application/json", string(body))
	if r.Status != http.StatusCreated {
		w.t.Fatalf("register: %+v", r)
	}
	return r.text("client_id")
}

func challenge() string {
	sum := sha256.Sum256([]byte(verifier))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// asks is the request of a program, as it stands in a browser's address.
func asks(client string, changes ...string) url.Values {
	q := url.Values{
		"response_type": {"code"}, "client_id": {client}, "redirect_uri": {callback}, "state": {"their-state"},
		"code_challenge": {challenge()}, "code_challenge_method": {"S256"}, "resource": {baseURL + "/mcp"},
	}
	return with(q, changes...)
}

// with is values with others; "" takes one away.
func with(q url.Values, changes ...string) url.Values {
	for i := 0; i+1 < len(changes); i += 2 {
		q.Set(changes[i], changes[i+1])
		if changes[i+1] == "" {
			q.Del(changes[i])
		}
	}
	return q
}

// allowed is the answer that a program gets when a person lets it be the agent.
func (w *town) allowed(who auth.Actor, q url.Values, agent connectors.Ref) url.Values {
	w.t.Helper()
	asked, err := w.programs.Request(w.t.Context(), q)
	if err != nil {
		w.t.Fatalf("request: %v", err)
	}
	to, err := w.programs.Allow(w.t.Context(), who, asked, authserver.Choice{Agent: agent})
	if err != nil {
		w.t.Fatalf("allow: %v", err)
	}
	u, err := url.Parse(to)
	if err != nil {
		w.t.Fatal(err)
	}
	return u.Query()
}

// exchanges is what a program sends for its code.
func exchanges(client, code string, changes ...string) url.Values {
	return with(url.Values{
		"grant_type": {"authorization_code"}, "client_id": {client}, "code": {code}, "redirect_uri": {callback}, "code_verifier": {verifier},
		"resource": {baseURL + "/mcp"},
	}, changes...)
}

func (w *town) token(form url.Values) reply {
	w.t.Helper()
	return w.post("/oauth/token", form)
}

// signedIn is a program that went all the way, and its tokens.
func (w *town) signedIn(client string) reply {
	w.t.Helper()
	code := w.allowed(w.ada, asks(client), connectors.Ref(w.agent.Slug)).Get("code")
	r := w.token(exchanges(client, code))
	if r.Status != http.StatusOK {
		w.t.Fatalf("exchange: %+v", r)
	}
	return r
}

func refreshes(client, token string) url.Values {
	return url.Values{"grant_type": {"refresh_token"}, "client_id": {client}, "refresh_token": {token}}
}

func (w *town) refresh(client, token string) reply {
	w.t.Helper()
	return w.token(refreshes(client, token))
}

// clients are the programs that may be the agent.
func (w *town) clients() []connectors.AgentClient {
	w.t.Helper()
	list, err := w.programs.Clients(w.t.Context(), w.ada, connectors.Ref(w.agent.Slug), store.Page{})
	if err != nil {
		w.t.Fatal(err)
	}
	return list.Items
}

// ends are the reasons for which programs' access ended.
func (w *town) ends() []string {
	w.t.Helper()
	return w.endsOf("agent_client.end")
}

func (w *town) endsOf(action string) []string {
	w.t.Helper()
	list, err := w.Door().Audit().List(w.t.Context(), store.AuditFilter{Action: action})
	if err != nil {
		w.t.Fatal(err)
	}
	var all []string
	for _, e := range list.Items {
		var d struct {
			Reason string `json:"reason"`
		}
		if err := json.Unmarshal(e.Detail, &d); err != nil {
			w.t.Fatal(err)
		}
		all = append(all, d.Reason)
	}
	return all
}

// opens reports whether an access token is good, as an operator's key is told.
func (w *town) opens(key, token string) bool {
	w.t.Helper()
	r := w.post("/oauth/introspect", url.Values{"token": {token}}, "Authorization", "Bearer "+key)
	if r.Status != http.StatusOK {
		w.t.Fatalf("introspect: %+v", r)
	}
	return r.JSON["active"] == true
}

// key is an API key of the tenant.
func (w *town) key(tenant connectors.TenantID, role connectors.Role) string {
	w.t.Helper()
	self, err := w.St.Tenant(tenant).Self(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	_, text, err := auth.New(auth.Options{Store: w.St}).IssueKey(w.t.Context(), auth.Operator(self), auth.KeyRequest{Name: "test", Role: role})
	if err != nil {
		w.t.Fatal(err)
	}
	return text.Reveal()
}
