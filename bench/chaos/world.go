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

// plantedPrefix begins every secret of the run, so that it can be searched for.
const plantedPrefix = "chaos-planted-"

// world holds everything that runs.
type world struct {
	options
	home     string
	lock     *os.File // lock of home
	movable  bool     // the program has an offset clock
	jumps    int      // clock jumps that showed in responses
	engine   database
	files    smallDisk // data directories
	cable    *dbProxy
	keyset   string
	replicas []*replica
	tenants  []*tenant
	up       *mcpServers
	as       *oauthtest.Server
	asEnds   []func()
	tally    *responseTally
	front    *loadBalancer
	provider *idProvider
	writes   writeLog
	calls    callLog
	programs programLog
	acts     adminActions
	arrivals signInLog
	churn    *churn.Load
	churned  churn.Report
	outages  churn.Outages
	client   *http.Client
	turn     atomic.Int64

	clocksWrong atomic.Int64 // end of the last clock fault, in nanoseconds of Unix time
}

// tenant is one tenant. Its mark must not be seen by others.
type tenant struct {
	slug, mark, key, robot, token  string
	email, password, hook, machine string
	assistant                      string       // API key
	client                         string       // client secret at the OpenID provider
	person                         *http.Client // with a session
}

func (o options) newWorld(ctx context.Context) (*world, error) {
	removeAbandoned(o.home, time.Now())
	home, lock, err := makeHome(o.home)
	if err != nil {
		return nil, err
	}
	w := &world{options: o, home: home, lock: lock, tally: newResponseTally()}
	w.calls.answered, w.programs.issued = map[int64]*tenant{}, map[string]bool{}
	w.client = &http.Client{Timeout: 40 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
	if err := errors.Join(os.Chmod(home, 0o711), os.Mkdir(filepath.Join(home, "logs"), 0o700)); err != nil { //nolint:gosec // as root, PostgreSQL runs as another user
		return nil, err
	}
	for i := range 2 {
		t := &tenant{slug: fmt.Sprintf("tenant-%d", i), mark: "mark" + rand.Text(), token: plantedPrefix + rand.Text(), password: plantedPrefix + rand.Text()}
		t.email = t.mark + "@example.com"
		w.tenants = append(w.tenants, t)
	}
	if w.program == "" {
		w.movable, w.program = true, filepath.Join(home, "patchbay")
		if err := buildMovable(ctx, w.program); err != nil {
			return nil, err
		}
	}
	if w.engine.disk, err = newSmallDisk(ctx, filepath.Join(home, "disk"), 640); err != nil {
		return nil, err
	}
	w.files, err = newSmallDisk(ctx, filepath.Join(home, "files"), 160)
	return w, err
}

// setUp starts everything, and creates tenants with connectors, agents and webhooks.
func (w *world) setUp(ctx context.Context) error {
	if err := w.engine.startCluster(ctx); err != nil {
		return err
	}
	socket, err := w.engine.socketPath()
	if err != nil {
		return err
	}
	if w.cable, err = newDBProxy(socket); err != nil {
		return err
	}
	if w.provider, err = newProvider(ctx, w); err != nil {
		return err
	}
	if w.front, err = newLoadBalancer(ctx); err != nil {
		return err
	}
	if w.keyset, err = w.runCommand(ctx, "keys", "new"); err != nil {
		return err
	}
	w.up = newMCPServers(w)
	if err := w.up.startListening(ctx); err != nil {
		return err
	}
	w.as = oauthtest.Start(oauthTB{ends: &w.asEnds}, oauthtest.Behaviour{Rotate: true, ExpiresIn: 4})
	if _, err := w.runCommand(ctx, "migrate"); err != nil {
		return err
	}
	for i := range w.options.replicas {
		r, err := w.newReplica(ctx, i)
		if err != nil {
			return err
		}
		w.replicas = append(w.replicas, r)
		w.front.addBackend(r.base)
	}
	if !w.waitAllReady(ctx) {
		return errors.New("the processes do not get ready")
	}
	for _, t := range w.tenants {
		if err := w.setUpTenant(ctx, t); err != nil {
			return fmt.Errorf("%s: %w", t.slug, err)
		}
	}
	return w.newChurn(ctx)
}

// oauthTB is the testing.TB of package oauthtest.
type oauthTB struct {
	testing.TB
	ends *[]func()
}

// Helper does nothing.
func (oauthTB) Helper() {}

// Cleanup stores f for tearDown.
func (b oauthTB) Cleanup(f func()) { *b.ends = append(*b.ends, f) }

func (w *world) processEnv() []string {
	var env []string
	for _, line := range os.Environ() {
		if !strings.HasPrefix(line, "PATCHBAY_") && !strings.HasPrefix(line, "DATABASE_URL=") {
			env = append(env, line)
		}
	}
	dsn := "postgres://patchbay@" + w.cable.listener.Addr().String() + "/patchbay?sslmode=disable&connect_timeout=5"
	return append(env, "DATABASE_URL="+dsn, "PATCHBAY_KEYSET="+w.keyset, "PATCHBAY_EGRESS=local", "PATCHBAY_LOG_LEVEL=debug", "PATCHBAY_LOG_FORMAT=json", "PATCHBAY_DATA_DIR="+w.files.dir,
		"PATCHBAY_BASE_URL="+w.front.base, "PATCHBAY_TRUSTED_PROXIES=127.0.0.1/32")
}

// runCommand runs one of the program's commands.
func (w *world) runCommand(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, w.program, args...) //nolint:gosec // the program that is tried
	cmd.Env = append(w.processEnv(), "PATCHBAY_PASSWORD="+w.tenants[0].password)
	text, err := cmd.Output()
	if e, ok := errors.AsType[*exec.ExitError](err); ok {
		err = fmt.Errorf("patchbay %s: %s", args[0], e.Stderr)
	}
	return strings.TrimSpace(string(text)), err
}

// setUpTenant creates a tenant with connectors and an agent.
func (w *world) setUpTenant(ctx context.Context, t *tenant) error {
	t.password = w.tenants[0].password
	var errs []error
	_, err := w.runCommand(ctx, "tenant", "create", t.mark, "--slug", t.slug)
	errs = append(errs, err)
	t.key, err = w.runCommand(ctx, "apikey", "create", "--tenant", t.slug, "--role", "owner", "--name", t.mark)
	errs = append(errs, err)
	t.assistant, err = w.runCommand(ctx, "apikey", "create", "--tenant", t.slug, "--role", "admin", "--name", "assistant of "+t.mark)
	errs = append(errs, err)
	_, err = w.runCommand(ctx, "user", "create", "--tenant", t.slug, "--email", t.email, "--role", "owner", "--name", t.mark)
	errs = append(errs, err)
	if err := errors.Join(errs...); err != nil {
		return err
	}
	machine, notes := w.newProtectedServer(t), w.newProtectedServer(t)
	t.machine = plantedPrefix + rand.Text()
	w.as.AddClient("machine-"+t.slug, t.machine, nil)
	connectors := []map[string]any{
		{"name": "Work " + t.mark, "slug": "work", "url": w.up.serverURL(t, "mcp"), "auth": map[string]any{"type": "bearer", "token": t.token}},
		{"name": "Machine " + t.mark, "slug": "machine", "url": machine.URL, "auth": map[string]any{"type": "client_credentials", "client_id": "machine-" + t.slug, "client_secret": t.machine}},
		{"name": "Notes " + t.mark, "slug": "notes", "url": notes.URL, "auth": map[string]any{"type": "oauth2"}},
	}
	if err := w.postAPI(ctx, t, "/api/v1/agents", map[string]any{"name": "Robot " + t.mark, "slug": "robot", "approval": "auto"}, nil); err != nil {
		return err
	}
	for _, c := range connectors {
		c["timeout_ms"], c["retry_attempts"], c["sync_interval_s"] = 5000, 1, 60
		if err := w.postAPI(ctx, t, "/api/v1/connectors", c, nil); err != nil {
			return err
		}
		if c["slug"] == "notes" {
			if err := w.connectAccount(ctx, t); err != nil {
				return err
			}
		}
		errs = append(errs, w.postAPI(ctx, t, fmt.Sprintf("/api/v1/connectors/%s/sync_tools", c["slug"]), nil, nil),
			w.requireAPI(ctx, t, "PUT", fmt.Sprintf("/api/v1/agents/robot/connectors/%s", c["slug"]), map[string]any{"tools": "all"}, nil))
	}
	return errors.Join(append(errs, w.setUpAccess(ctx, t))...)
}

// setUpAccess creates an agent token, a webhook, a person's session, and single sign-on.
func (w *world) setUpAccess(ctx context.Context, t *tenant) error {
	var errs []error
	var token struct{ Token string }
	var hook struct{ ID string }
	errs = append(errs, w.postAPI(ctx, t, "/api/v1/agents/robot/tokens", map[string]any{}, &token),
		w.postAPI(ctx, t, "/api/v1/webhooks", map[string]any{"name": t.mark, "url": w.up.serverURL(t, "hook")}, &hook), w.signInPerson(ctx, t))
	t.robot, t.hook = token.Token, hook.ID
	if err := errors.Join(errs...); err != nil {
		return err
	}
	return w.enableSSO(ctx, t)
}

// newProtectedServer is an MCP server behind the authorization server.
func (w *world) newProtectedServer(t *tenant) *oauthtest.Resource {
	return w.as.Protect(oauthTB{ends: &w.asEnds}, oauthtest.ResourceBehaviour{Next: w.up.newHandler(t.mark)})
}

// connectAccount follows a connect link, as a person does.
func (w *world) connectAccount(ctx context.Context, t *tenant) error {
	var link struct {
		URL string `json:"connect_url"`
	}
	if err := w.postAPI(ctx, t, "/api/v1/connectors/notes/connect", map[string]any{}, &link); err != nil {
		return err
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		return err
	}
	browser := &http.Client{Jar: jar, Timeout: 30 * time.Second, Transport: w.client.Transport}
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		r, err := http.NewRequestWithContext(ctx, method, link.URL, nil)
		if err != nil {
			return err
		}
		if method == http.MethodPost {
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		}
		a, err := browser.Do(r)
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

// signInPerson signs the tenant's person in.
func (w *world) signInPerson(ctx context.Context, t *tenant) error {
	jar, err := cookiejar.New(nil)
	if err != nil {
		return err
	}
	t.person = &http.Client{Jar: jar, Timeout: 40 * time.Second, Transport: w.client.Transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, w.nextReplica()+"/login", strings.NewReader(url.Values{"email": {t.email}, "password": {t.password}}.Encode()))
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

// nextReplica is the address of the next replica, in turn.
func (w *world) nextReplica() string { return w.replicas[int(w.turn.Add(1))%len(w.replicas)].base }

// postAPI is requireAPI with POST.
func (w *world) postAPI(ctx context.Context, t *tenant, path string, body, into any) error {
	return w.requireAPI(ctx, t, http.MethodPost, path, body, into)
}

// requireAPI is a request to the JSON API that must succeed.
func (w *world) requireAPI(ctx context.Context, t *tenant, method, path string, body, into any) error {
	status, text, err := w.requestAPI(ctx, t, method, path, body)
	if err == nil && status >= 300 {
		err = fmt.Errorf("%s %s: %d %.500s", method, path, status, text)
	}
	if err != nil || into == nil {
		return err
	}
	return json.Unmarshal(text, into)
}

// requestAPI is a request to the JSON API.
func (w *world) requestAPI(ctx context.Context, t *tenant, method, path string, body any) (int, []byte, error) {
	var sent io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return 0, nil, err
		}
		sent = bytes.NewReader(text)
	}
	return churn.Request{Method: method, URL: w.nextReplica() + path, Key: t.key, Body: sent}.Send(ctx, w.client)
}

// waitAllReady waits for all processes, at most two minutes.
func (w *world) waitAllReady(ctx context.Context) bool {
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

// stopAll stops the processes with SIGTERM, and counts unclean exits.
func (w *world) stopAll() (disorderly int) {
	for _, r := range w.replicas {
		if code := r.stopProcess(syscall.SIGTERM); code != 0 {
			w.tally.recordProblem("ends", fmt.Sprintf("%s ended with %d", filepath.Base(r.log), code))
			disorderly++
		}
		r.watchers.Wait()
	}
	return disorderly
}

// tearDown stops and removes everything.
func (w *world) tearDown() error {
	for _, r := range w.replicas {
		if r.ended != nil {
			r.stopProcess(syscall.SIGKILL)
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
	w.engine.releaseConnections()
	if w.engine.cluster != nil {
		_ = w.engine.stopCluster(context.Background())
	}
	if w.cable != nil {
		w.cable.close()
	}
	w.engine.disk.remove()
	w.files.remove()
	_ = w.lock.Close()
	return os.RemoveAll(w.home)
}
