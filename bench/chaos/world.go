package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"patchbay/bench/churn"
	"patchbay/internal/oauth/oauthtest"
)

// planted begins every secret that is ours to choose: it is looked for everywhere.
const planted = "chaos-planted-"

// world is everything that runs.
type world struct {
	options
	home     string
	lock     *os.File // says that home is in use
	movable  bool     // the processes' clocks can be moved
	jumps    int      // of them, which a process was seen to show
	engine   engine
	files    small // where the data directories are
	cable    *cable
	keyset   string
	replicas []*replica
	tenants  []*tenant
	up       *upstream
	as       *oauthtest.Server
	asEnds   []func()
	tally    *tally
	front    *front
	provider *provider
	writes   writes
	calls    calls
	programs programs
	acts     acts
	arrivals arrivals
	churn    *churn.Load
	churned  churn.Report
	client   *http.Client
	turn     atomic.Int64

	clocksWrong atomic.Int64 // until when, in nanoseconds of Unix time
}

// tenant is one customer, who must not see another one's mark.
type tenant struct {
	slug, mark, key, robot, token  string
	email, password, hook, machine string
	assistant                      string       // an API key
	client                         string       // the secret of its client at the organisation's provider
	person                         *http.Client // with a session
}

func (o options) open(ctx context.Context) (*world, error) {
	sweep(o.home, time.Now())
	home, lock, err := makeHome(o.home)
	if err != nil {
		return nil, err
	}
	w := &world{options: o, home: home, lock: lock, tally: newTally()}
	w.calls.answered, w.programs.given = map[int64]*tenant{}, map[string]bool{}
	w.client = &http.Client{Timeout: 40 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
	if err := errors.Join(os.Chmod(home, 0o711), os.Mkdir(filepath.Join(home, "logs"), 0o700)); err != nil { //nolint:gosec // as root, PostgreSQL runs as another user
		return nil, err
	}
	for i := range 2 {
		t := &tenant{slug: fmt.Sprintf("tenant-%d", i), mark: "mark" + rand.Text(), token: planted + rand.Text(), password: planted + rand.Text()}
		t.email = t.mark + "@example.com"
		w.tenants = append(w.tenants, t)
	}
	if w.program == "" {
		w.movable, w.program = true, filepath.Join(home, "patchbay")
		if err := buildMovable(ctx, w.program); err != nil {
			return nil, err
		}
	}
	if w.engine.disk, err = newSmall(ctx, filepath.Join(home, "disk"), 640); err != nil {
		return nil, err
	}
	w.files, err = newSmall(ctx, filepath.Join(home, "files"), 160)
	return w, err
}

// furnish starts everything, and sets up tenants with connectors, agents and webhooks.
func (w *world) furnish(ctx context.Context) error {
	if err := w.engine.start(ctx); err != nil {
		return err
	}
	socket, err := w.engine.socket()
	if err != nil {
		return err
	}
	if w.cable, err = newCable(socket); err != nil {
		return err
	}
	if w.provider, err = newProvider(ctx, w); err != nil {
		return err
	}
	if w.front, err = newFront(ctx); err != nil {
		return err
	}
	if w.keyset, err = w.command(ctx, "keys", "new"); err != nil {
		return err
	}
	w.up = newUpstream(w)
	if err := w.up.up(ctx); err != nil {
		return err
	}
	w.as = oauthtest.Start(bench{ends: &w.asEnds}, oauthtest.Behaviour{Rotate: true, ExpiresIn: 4})
	if _, err := w.command(ctx, "migrate"); err != nil {
		return err
	}
	for i := range w.options.replicas {
		r, err := w.newReplica(ctx, i)
		if err != nil {
			return err
		}
		w.replicas = append(w.replicas, r)
		w.front.add(r.base)
	}
	if !w.healed(ctx) {
		return errors.New("the processes do not get ready")
	}
	for _, t := range w.tenants {
		if err := w.settle(ctx, t); err != nil {
			return fmt.Errorf("%s: %w", t.slug, err)
		}
	}
	return w.newChurn(ctx)
}

// bench stands for a test at oauthtest's door.
type bench struct {
	testing.TB
	ends *[]func()
}

// Helper does nothing.
func (bench) Helper() {}

// Cleanup keeps what is done at the end.
func (b bench) Cleanup(f func()) { *b.ends = append(*b.ends, f) }

func (w *world) env() []string {
	var env []string
	for _, line := range os.Environ() {
		if !strings.HasPrefix(line, "PATCHBAY_") && !strings.HasPrefix(line, "DATABASE_URL=") {
			env = append(env, line)
		}
	}
	through := "postgres://patchbay@" + w.cable.listener.Addr().String() + "/patchbay?sslmode=disable&connect_timeout=5"
	return append(env, "DATABASE_URL="+through, "PATCHBAY_KEYSET="+w.keyset, "PATCHBAY_EGRESS=local", "PATCHBAY_LOG_LEVEL=debug", "PATCHBAY_LOG_FORMAT=json", "PATCHBAY_DATA_DIR="+w.files.dir,
		"PATCHBAY_BASE_URL="+w.front.base, "PATCHBAY_TRUSTED_PROXIES=127.0.0.1/32")
}

// command runs one of the program's commands.
func (w *world) command(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, w.program, args...) //nolint:gosec // the program that is tried
	cmd.Env = append(w.env(), "PATCHBAY_PASSWORD="+w.tenants[0].password)
	text, err := cmd.Output()
	if e, ok := errors.AsType[*exec.ExitError](err); ok {
		err = fmt.Errorf("patchbay %s: %s", args[0], e.Stderr)
	}
	return strings.TrimSpace(string(text)), err
}

// settle makes a tenant with all that it needs.
func (w *world) settle(ctx context.Context, t *tenant) error {
	t.password = w.tenants[0].password
	var errs []error
	_, err := w.command(ctx, "tenant", "create", t.mark, "--slug", t.slug)
	errs = append(errs, err)
	t.key, err = w.command(ctx, "apikey", "create", "--tenant", t.slug, "--role", "owner", "--name", t.mark)
	errs = append(errs, err)
	t.assistant, err = w.command(ctx, "apikey", "create", "--tenant", t.slug, "--role", "admin", "--name", "assistant of "+t.mark)
	errs = append(errs, err)
	_, err = w.command(ctx, "user", "create", "--tenant", t.slug, "--email", t.email, "--role", "owner", "--name", t.mark)
	errs = append(errs, err)
	if err := errors.Join(errs...); err != nil {
		return err
	}
	machine, notes := w.protect(t), w.protect(t)
	t.machine = planted + rand.Text()
	w.as.AddClient("machine-"+t.slug, t.machine, nil)
	connectors := []map[string]any{
		{"name": "Work " + t.mark, "slug": "work", "url": w.up.address(t, "mcp"), "auth": map[string]any{"type": "bearer", "token": t.token}},
		{"name": "Machine " + t.mark, "slug": "machine", "url": machine.URL, "auth": map[string]any{"type": "client_credentials", "client_id": "machine-" + t.slug, "client_secret": t.machine}},
		{"name": "Notes " + t.mark, "slug": "notes", "url": notes.URL, "auth": map[string]any{"type": "oauth2"}},
	}
	if err := w.make(ctx, t, "/api/v1/agents", map[string]any{"name": "Robot " + t.mark, "slug": "robot", "approval": "auto"}, nil); err != nil {
		return err
	}
	for _, c := range connectors {
		c["timeout_ms"], c["retry_attempts"], c["sync_interval_s"] = 5000, 1, 60
		if err := w.make(ctx, t, "/api/v1/connectors", c, nil); err != nil {
			return err
		}
		if c["slug"] == "notes" {
			if err := w.connect(ctx, t); err != nil {
				return err
			}
		}
		errs = append(errs, w.make(ctx, t, fmt.Sprintf("/api/v1/connectors/%s/sync_tools", c["slug"]), nil, nil),
			w.ask(ctx, t, "PUT", fmt.Sprintf("/api/v1/agents/robot/connectors/%s", c["slug"]), map[string]any{"tools": "all"}, nil))
	}
	return errors.Join(append(errs, w.comeIn(ctx, t))...)
}

// comeIn gives the tenant's agent a token, its person a session, and its people single sign-on.
func (w *world) comeIn(ctx context.Context, t *tenant) error {
	var errs []error
	var token struct{ Token string }
	var hook struct{ ID string }
	errs = append(errs, w.make(ctx, t, "/api/v1/agents/robot/tokens", map[string]any{}, &token),
		w.make(ctx, t, "/api/v1/webhooks", map[string]any{"name": t.mark, "url": w.up.address(t, "hook")}, &hook), w.signIn(ctx, t))
	t.robot, t.hook = token.Token, hook.ID
	if err := errors.Join(errs...); err != nil {
		return err
	}
	return w.turnsOn(ctx, t)
}

// protect is a server that wants tokens of the authorization server.
func (w *world) protect(t *tenant) *oauthtest.Resource {
	return w.as.Protect(bench{ends: &w.asEnds}, oauthtest.ResourceBehaviour{Next: w.up.server(t.mark)})
}

// connect connects the tenant's account, as a person does who was sent the link.
func (w *world) connect(ctx context.Context, t *tenant) error {
	var link struct {
		URL string `json:"connect_url"`
	}
	if err := w.make(ctx, t, "/api/v1/connectors/notes/connect", map[string]any{}, &link); err != nil {
		return err
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		return err
	}
	visitor := &http.Client{Jar: jar, Timeout: 30 * time.Second}
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		r, err := http.NewRequestWithContext(ctx, method, link.URL, nil)
		if err != nil {
			return err
		}
		if method == http.MethodPost {
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		}
		a, err := visitor.Do(r)
		if err != nil {
			return err
		}
		text, _ := io.ReadAll(a.Body)
		_ = a.Body.Close()
		if a.StatusCode != http.StatusOK {
			return fmt.Errorf("%s at %s: %d %.300s", method, a.Request.URL.Path, a.StatusCode, text)
		}
	}
	return nil
}

// signIn gives the tenant's person a session.
func (w *world) signIn(ctx context.Context, t *tenant) error {
	jar, err := cookiejar.New(nil)
	if err != nil {
		return err
	}
	t.person = &http.Client{Jar: jar, Timeout: 40 * time.Second, Transport: w.client.Transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, w.next()+"/login", strings.NewReader(url.Values{"email": {t.email}, "password": {t.password}}.Encode()))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	a, err := t.person.Do(r)
	if err != nil {
		return err
	}
	_ = a.Body.Close()
	if a.StatusCode != http.StatusSeeOther {
		return fmt.Errorf("signing in: %d", a.StatusCode)
	}
	return nil
}

// next is the replica whose turn it is.
func (w *world) next() string { return w.replicas[int(w.turn.Add(1))%len(w.replicas)].base }

// make posts, and is an error where that fails.
func (w *world) make(ctx context.Context, t *tenant, path string, body, into any) error {
	return w.ask(ctx, t, http.MethodPost, path, body, into)
}

// ask is a request to the JSON API that has to succeed.
func (w *world) ask(ctx context.Context, t *tenant, method, path string, body, into any) error {
	status, text, err := w.api(ctx, t, method, path, body)
	if err == nil && status >= 300 {
		err = fmt.Errorf("%s %s: %d %.500s", method, path, status, text)
	}
	if err != nil || into == nil {
		return err
	}
	return json.Unmarshal(text, into)
}

// api is any request to the JSON API.
func (w *world) api(ctx context.Context, t *tenant, method, path string, body any) (int, []byte, error) {
	var sent io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return 0, nil, err
		}
		sent = bytes.NewReader(text)
	}
	return churn.Request{Method: method, URL: w.next() + path, Key: t.key, Body: sent}.Send(ctx, w.client)
}

// healed waits until every process is ready, for two minutes.
func (w *world) healed(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	for _, r := range w.replicas {
		for !r.isReady(ctx) {
			select {
			case <-ctx.Done():
				return false
			case <-time.After(100 * time.Millisecond):
			}
		}
	}
	return true
}

// stopAll ends the processes as an operator would, and says how many ended in another way than they should.
func (w *world) stopAll() (disorderly int) {
	for _, r := range w.replicas {
		if code := r.end(syscall.SIGTERM); code != 0 {
			w.tally.note("ends", fmt.Sprintf("%s ended with %d", filepath.Base(r.log), code))
			disorderly++
		}
		r.over.Wait()
	}
	return disorderly
}

// end stops whatever still runs, and removes it.
func (w *world) end() error {
	for _, r := range w.replicas {
		if r.ended != nil {
			r.end(syscall.SIGKILL)
		}
	}
	for _, f := range w.asEnds {
		f()
	}
	if w.front != nil {
		w.front.close()
	}
	if w.provider != nil {
		_ = w.provider.serve.Close()
	}
	if w.up != nil && w.up.serve != nil {
		_ = w.up.serve.Close()
	}
	w.engine.relieve()
	if w.engine.cluster != nil {
		_ = w.engine.stop(context.Background())
	}
	if w.cable != nil {
		w.cable.close()
	}
	w.engine.disk.remove()
	w.files.remove()
	_ = w.lock.Close()
	return os.RemoveAll(w.home)
}
