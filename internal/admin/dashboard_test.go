package admin_test

import (
	"bytes"
	"html"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alexedwards/argon2id"
	"github.com/go-chi/chi/v5"
	chimiddleware "github.com/go-chi/chi/v5/middleware"

	"patchbay/internal/admin"
	"patchbay/internal/agentview"
	"patchbay/internal/auditstreams"
	"patchbay/internal/auth"
	"patchbay/internal/calllog"
	"patchbay/internal/connect"
	"patchbay/internal/connectors"
	"patchbay/internal/credentials"
	"patchbay/internal/fault"
	"patchbay/internal/mail"
	"patchbay/internal/mail/mailtest"
	"patchbay/internal/mailing"
	"patchbay/internal/manage"
	"patchbay/internal/mcp"
	"patchbay/internal/mcpregistry"
	"patchbay/internal/middleware"
	"patchbay/internal/oauth"
	"patchbay/internal/publicregistry"
	"patchbay/internal/respond"
	"patchbay/internal/safehttp"
	"patchbay/internal/secret"
	"patchbay/internal/sso"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
	"patchbay/internal/testing/paniclog"
	"patchbay/internal/toolcall"
	"patchbay/internal/toolsync"
	"patchbay/internal/webhooks"
	"patchbay/web"
)

const password = secret.Text("correct horse battery")

// cheap makes tests fast.
var cheap = argon2id.Params{Memory: 64, Iterations: 1, Parallelism: 1, SaltLength: 16, KeyLength: 32}

// dashboard is a served dashboard with a database of its own.
type dashboard struct {
	*fixture.World
	t       testing.TB
	auth    *auth.Service
	syncer  *toolsync.Syncer
	router  *chi.Mux
	server  *httptest.Server
	base    string // its address
	log     *logBuffer
	access  *agentview.Cache
	calls   *toolcall.Executor
	history *calllog.Writer
	smtp    *mailtest.Server
	stop    chan struct{} // closed by a test that stops the server
	ahead   atomic.Int64  // the dashboard's clock offset in nanoseconds
	work    fixture.Work  // of its requests, without background work

	signInAhead atomic.Int64 // likewise, for sessions and codes
}

// signInTime is the time for sessions and codes.
func (d *dashboard) signInTime() time.Time {
	return time.Now().Add(time.Duration(d.signInAhead.Load()))
}

func (d *dashboard) now() time.Time { return time.Now().Add(time.Duration(d.ahead.Load())) }

// logBuffer holds the log, at every level.
type logBuffer struct {
	mu     sync.Mutex
	buf    bytes.Buffer  // guarded by mu
	panics *paniclog.Log // receives a copy; nil: nothing does
}

// copyTo copies what is logged from now on.
func (b *logBuffer) copyTo(panics *paniclog.Log) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.panics = panics
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.panics != nil {
		_, _ = b.panics.Write(p) // it does not fail
	}
	return b.buf.Write(p)
}

func (b *logBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

func newDashboard(t testing.TB, opts ...func(*admin.Options)) *dashboard {
	t.Helper()
	return newDashboardAt(t, "127.0.0.1", opts...)
}

// newDashboardAt is newDashboard at another name of loopback, which browsers treat as another site.
func newDashboardAt(t testing.TB, host string, opts ...func(*admin.Options)) *dashboard {
	t.Helper()
	d := &dashboard{World: fixture.New(t), t: t, log: &logBuffer{}, stop: make(chan struct{}), smtp: mailtest.Start(t, mail.NoTLS)}
	log := slog.New(slog.NewJSONHandler(d.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	egress := safehttp.New(safehttp.Options{Mode: safehttp.Local})
	d.auth = auth.New(auth.Options{Store: d.St, Log: log, PasswordCost: &cheap, Now: d.signInTime})
	authorization := &oauth.Client{HTTP: egress.Client(), CheckURL: egress.CheckURL}
	d.syncer = toolsync.New(toolsync.Options{
		Store: d.St, Credentials: credentials.NewRefreshing(credentials.Options{Store: d.St, OAuth: authorization}), Egress: egress, Instance: d.Instance, Log: log,
	})
	dialer := &mcp.Dialer{HTTP: egress.Client(), Version: "test"}
	pages := respond.New(log, d.auth.Sessions())

	d.router = chi.NewRouter()
	d.server = httptest.NewUnstartedServer(http.HandlerFunc(d.serve))
	_, port, _ := net.SplitHostPort(d.server.Listener.Addr().String())
	base := &url.URL{Scheme: "http", Host: net.JoinHostPort(host, port)}
	d.base = base.String()
	d.router.Use(middleware.Chain(middleware.Options{BaseURL: base, Log: log, Refuse: pages.Failure})...)
	d.router.Use(chimiddleware.GetHead)
	d.auth.Sessions().ErrorFunc = pages.Failure
	d.router.NotFound(func(w http.ResponseWriter, r *http.Request) {
		pages.Failure(w, r, fault.Errorf(fault.NotFound, "This URL doesn't exist."))
	})
	agents := d.newAgentServices(dialer)
	o := admin.Options{
		Store: d.St, Auth: d.auth, Registry: manage.New(d.St, egress).WithCatalog(builtinCatalog(t)), ServerLists: mcpregistry.New(egress.Client(), egress.CheckURL), Syncer: d.syncer, Respond: pages, Log: log,
		Connect: connect.New(connect.Options{
			Store: d.St, OAuth: authorization, Dialer: dialer, Log: log, BaseURL: base.String(),
		}),
		Access: agents.access, Calls: agents.calls, History: agents.history,
		SSO:          sso.New(sso.Options{Store: d.St, HTTP: egress.Client(), CheckURL: egress.CheckURL, BaseURL: base.String(), Log: log}),
		AuthServer:   d.newAuthServer(egress, base.String()),
		Mailing:      mailing.New(mailing.Options{Store: d.St, Auth: d.auth, Sender: d.smtp.Sender(), BaseURL: base.String(), Log: log}),
		Webhooks:     webhooks.New(webhooks.Options{Store: d.St, HTTP: egress.Client(), CheckURL: egress.CheckURL, BaseURL: base.String(), Log: log}),
		SCIM:         newSCIM(t, d.St, base),
		AuditStreams: auditstreams.New(auditstreams.Options{Store: d.St, Egress: egress, Log: log}),
		Registries:   publicregistry.New(publicregistry.Options{Store: d.St, BaseURL: base, Log: log}),
		BaseURL:      base.String(), Done: d.stop, Now: d.now, ProgramSync: http.HandlerFunc(serveTeapot),
	}
	for _, opt := range opts {
		opt(&o)
	}
	admin.New(o).Mount(d.router)
	d.server.Start()
	d.server.Client().Transport.(*http.Transport).DisableCompression = true // TestPagesAreLight compresses each page
	t.Cleanup(d.server.Close)
	return d
}

// serve handles requests as the program does, static files included.
func (d *dashboard) serve(w http.ResponseWriter, r *http.Request) {
	if strings.HasPrefix(r.URL.Path, web.Prefix) {
		web.Static().ServeHTTP(w, r)
		return
	}
	d.router.ServeHTTP(w, r.WithContext(fixture.WithWork(r.Context(), &d.work)))
}

// serveTeapot replaces the JSON API.
func serveTeapot(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) }

// hash is the hash of password.
func (d *dashboard) hash() string {
	d.t.Helper()
	hash, err := d.auth.HashPassword(d.t.Context(), "ada@example.com", password)
	if err != nil {
		d.t.Fatal(err)
	}
	return hash
}

// createMember creates a member with a password.
func (d *dashboard) createMember(role connectors.Role) connectors.Member {
	d.t.Helper()
	return d.Member(d.t, role, d.withPassword())
}

func (d *dashboard) withPassword() func(*store.NewMember) {
	return func(m *store.NewMember) { m.PasswordHash = d.hash() }
}

// signInAsRole creates a member with that role, and returns their signed-in browser.
func (d *dashboard) signInAsRole(role connectors.Role) *browser {
	d.t.Helper()
	b := d.browser()
	b.signIn(d.createMember(role).Email)
	return b
}

// browser keeps cookies and does not follow redirects.
type browser struct {
	t      testing.TB
	base   string
	client *http.Client
	header http.Header
}

func (d *dashboard) browser() *browser {
	d.t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		d.t.Fatal(err)
	}
	return &browser{t: d.t, base: d.server.URL, header: http.Header{}, client: &http.Client{
		Transport:     d.server.Client().Transport,
		Jar:           jar,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// page is a response with its body.
type page struct {
	Status   int
	Location string
	Header   http.Header
	Body     string
}

// says reports whether the page contains the text, entities decoded.
// says reports whether the page has the text. A few hexadecimal digits are no text: some random id of the page has them sooner or later.
func (p page) says(text string) bool {
	if text != "" && len(text) < 6 && strings.Trim(text, "0123456789abcdef") == "" {
		panic("a random id may have " + text)
	}
	return strings.Contains(html.UnescapeString(p.Body), text)
}

func (b *browser) do(method, path string, form url.Values) page {
	b.t.Helper()
	var body io.Reader
	if form != nil {
		body = strings.NewReader(form.Encode())
	}
	if strings.HasPrefix(path, "/") {
		path = b.base + path
	}
	req, err := http.NewRequestWithContext(b.t.Context(), method, path, body)
	if err != nil {
		b.t.Fatal(err)
	}
	if form != nil {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		req.Header.Set("Origin", b.base)
	}
	for name, values := range b.header {
		req.Header[name] = values
	}
	res, err := b.client.Do(req)
	if err != nil {
		b.t.Fatalf("%s %s: %v", method, path, err)
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		b.t.Fatalf("%s %s: %v", method, path, err)
	}
	return page{Status: res.StatusCode, Location: res.Header.Get("Location"), Header: res.Header, Body: string(text)}
}

// get opens a path of the dashboard, or a full address.
func (b *browser) get(path string) page { b.t.Helper(); return b.do(http.MethodGet, path, nil) }

func (b *browser) post(path string, form url.Values) page {
	b.t.Helper()
	if form == nil {
		form = url.Values{}
	}
	return b.do(http.MethodPost, path, form)
}

// submit posts a form and follows the redirect.
func (b *browser) submit(path string, form url.Values) page {
	b.t.Helper()
	p := b.post(path, form)
	if p.Status != http.StatusSeeOther {
		return p
	}
	return b.get(p.Location)
}

func (b *browser) signIn(email string) {
	b.t.Helper()
	p := b.post("/login", url.Values{"email": {email}, "password": {password.Reveal()}})
	if p.Status != http.StatusSeeOther {
		b.t.Fatalf("sign-in: %d\n%s", p.Status, p.Body)
	}
}

func (p page) want(t testing.TB, status int, texts ...string) {
	t.Helper()
	if p.Status != status {
		t.Errorf("status %d, want %d (to %q)", p.Status, status, p.Location)
	}
	for _, text := range texts {
		if !p.says(text) {
			t.Errorf("the page does not say %q:\n%s", text, plainText(p.Body))
		}
	}
}

// plainText is a page without tags, for failure messages.
func plainText(body string) string {
	var out strings.Builder
	tag := false
	for _, c := range body {
		switch {
		case c == '<':
			tag = true
		case c == '>':
			tag = false
		case !tag:
			out.WriteRune(c)
		}
	}
	return strings.Join(strings.Fields(html.UnescapeString(out.String())), " ")
}
