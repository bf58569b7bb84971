//go:build e2e

package e2e_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/cookiejar"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"patchbay/internal/testing/pgtest"
)

const (
	soakAgents   = 50
	soakAccounts = 5 // of each owner, at each connector
	soakWorkers  = 32
	soakReplicas = 3
	soakRebound  = 5 // agents with grants that bind another account again and again

	soakSeveralEach = 6 // each such agent after those has grants that bind several accounts
)

// soakConnector is a connector of the echo server with soakAccounts accounts of each owner.
type soakConnector struct {
	slug            string
	perAgent, oauth bool
}

var soakConnectors = []soakConnector{{slug: "team", oauth: true}, {slug: "own", perAgent: true, oauth: true}, {slug: "keys"}, {slug: "mine", perAgent: true}}

// subject is the account's at the server. agent counts if the connector has accounts of agents.
func (c soakConnector) subject(agent string, account int) string {
	if c.perAgent {
		return fmt.Sprintf("%s-%s-%s", c.slug, agent, accountName(account))
	}
	return c.slug + "-" + accountName(account)
}

func accountName(account int) string { return fmt.Sprint("account", account) }

// accountSoak is an installation of several replicas, with agents and grants that bind accounts.
type accountSoak struct {
	*home
	c      client
	front  *proxy
	echo   *echoServer
	owner  *ownerConnection
	agents []*soakAgent

	mu       sync.Mutex // guards what follows
	replicas []*soakReplica
	calls    []*soakCall
	faults   []string

	numbers  atomic.Int64 // of calls
	answered atomic.Int64
	rebinds  atomic.Int64
	late     atomic.Int64 // calls by the account that was bound just before a rebind
	approved atomic.Int64
	stop     context.Context // done when enough calls are answered, or the test ends
	end      context.CancelFunc
}

type soakReplica struct {
	*server
	killed []time.Time
}

// TestAccounts_NoCallUsesAnother makes calls of all kinds with many accounts while replicas are killed, tokens are refreshed,
// calls are approved and grants bind other accounts. The server echoes the account of each.
func TestAccounts_NoCallUsesAnother(t *testing.T) {
	t.Parallel()
	s := newAccountSoak(t)
	began := time.Now()
	var load sync.WaitGroup
	for range soakWorkers {
		load.Go(s.makeCalls)
	}
	load.Go(s.rebindGrants)
	var approver sync.WaitGroup
	waiting, decided := context.WithCancel(t.Context())
	defer decided()
	approver.Go(func() { s.approveCalls(waiting) })
	s.killInTurn()
	load.Wait()
	decided()
	approver.Wait()
	took := time.Since(began)
	defer s.reportFaults()
	s.reportCalls(took)
	s.checkSightings()
	s.checkHistory()
	s.checkApprovals()
	s.checkLogs()
}

func newAccountSoak(t *testing.T) *accountSoak {
	t.Helper()
	s := &accountSoak{home: newHome(t), front: newProxy(t), echo: newEchoServer(t)}
	s.stop, s.end = context.WithCancel(t.Context())
	database := pgtest.URL(t)
	s.owner = &ownerConnection{t: t, url: database}
	s.env = append(s.env, "PATCHBAY_KEYSET="+s.run("keys", "new"), "DATABASE_URL="+database, "PATCHBAY_BASE_URL="+s.front.URL, "PATCHBAY_LOG_LEVEL=info",
		"PATCHBAY_EGRESS=local", "PATCHBAY_TRUSTED_PROXIES=127.0.0.1/32") // so that calls choose their request ids
	for i := range soakReplicas {
		s.replicas = append(s.replicas, &soakReplica{})
		s.startReplica(i)
	}
	s.c = client{t: t, base: s.front.URL, key: s.run("apikey", "create", "--tenant", "default", "--role", "owner", "--name", "tests")}
	s.c.must(http.StatusOK, http.MethodPatch, "/api/v1/tenant", object{"call_history": "full"})
	for _, c := range soakConnectors {
		s.addConnector(c)
	}
	for i := range soakAgents {
		s.agents = append(s.agents, newSoakAgent(i))
	}
	s.inParallel("set up agents", soakAgents, func(i int) error { return s.addAgent(s.agents[i]) })
	return s
}

// startReplica starts a replica on the data directory of its predecessor, and waits until it is ready.
func (s *accountSoak) startReplica(i int) {
	s.t.Helper()
	started := s.replica(i)
	eventually(s.t, func() error { return started.readyz(http.StatusOK) })
	s.front.add(started.base)
	s.mu.Lock()
	s.replicas[i].server = started
	running := 0
	for _, r := range s.replicas {
		if r.server != nil {
			running++
		}
	}
	s.mu.Unlock()
	eventually(s.t, s.front.allReady(running))
}

// inParallel does something for each number below n, eight at a time.
func (s *accountSoak) inParallel(what string, n int, do func(i int) error) {
	s.t.Helper()
	var next atomic.Int64
	var workers sync.WaitGroup
	failures := make([]error, n)
	for range 8 {
		workers.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				failures[i] = do(i)
			}
		})
	}
	workers.Wait()
	if err := errors.Join(failures...); err != nil {
		s.t.Fatalf("%s: %.2000v", what, err)
	}
}

// request is a request to the API that must succeed.
func (s *accountSoak) request(method, path string, body any) (object, error) {
	status, answer, err := s.c.try(method, path, body)
	if err == nil && status >= http.StatusMultipleChoices {
		err = fmt.Errorf("%s %s: %w", method, path, &refusal{status, answer})
	}
	return answer, err
}

// addConnector creates a connector with its shared accounts, and reads its tools with one of them.
func (s *accountSoak) addConnector(c soakConnector) {
	s.t.Helper()
	created := object{"name": c.slug, "slug": c.slug, "url": s.echo.url + "/key/" + c.slug, "auth": object{"type": "bearer"}, "sync_interval_s": 0, "listen": "off", "timeout_ms": 5000}
	isEntered := !c.oauth && !c.perAgent // then the first account is entered with the connector, and named default
	if isEntered {
		created["auth"] = object{"type": "bearer", "token": "key." + c.subject("", 0)}
	}
	if c.oauth {
		created["url"], created["auth"] = s.echo.url+"/oauth/"+c.slug, object{"type": "oauth2"}
	}
	if c.perAgent {
		created["credential_mode"] = "per_agent"
	}
	s.c.must(http.StatusCreated, http.MethodPost, "/api/v1/connectors", created)
	if isEntered {
		s.c.must(http.StatusNoContent, http.MethodPatch, "/api/v1/connectors/"+c.slug+"/credential", object{"name": accountName(0)})
	}
	if c.perAgent { // its tools are read with an account of an agent that makes no calls
		s.c.must(http.StatusCreated, http.MethodPost, "/api/v1/agents", object{"name": "reads " + c.slug, "slug": "reads-" + c.slug})
	}
	if err := s.addAccounts(c, "reads-"+c.slug); err != nil {
		s.t.Fatal(err)
	}
	s.c.must(http.StatusOK, http.MethodPost, "/connectors/"+c.slug+"/sync_tools", nil)
}

// addAccounts connects or enters the accounts of an owner.
func (s *accountSoak) addAccounts(c soakConnector, agent string) error {
	path := "/api/v1/connectors/" + c.slug
	for account := range soakAccounts {
		name, subject := accountName(account), c.subject(agent, account)
		wanted := object{"account": name}
		enter := path + "/credential?account=" + name
		if c.perAgent {
			wanted["agent"], enter = agent, path+"/agents/"+agent+"/credential?account="+name
		}
		if !c.oauth {
			if _, err := s.request(http.MethodPut, enter, object{"token": "key." + subject}); err != nil {
				return err
			}
			continue
		}
		link, err := s.request(http.MethodPost, path+"/connect", wanted)
		if err != nil {
			return err
		}
		if err := connectAs(subject, fmt.Sprint(link["connect_url"])); err != nil {
			return err
		}
	}
	return nil
}

// headerTransport adds a header to each request.
type headerTransport struct{ name, value string }

// RoundTrip implements http.RoundTripper.
func (h headerTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set(h.name, h.value)
	return localTransport.RoundTrip(r)
}

// connectAs follows a connect link as the owner of an account.
func connectAs(subject, link string) error {
	jar, err := cookiejar.New(nil)
	if err != nil {
		return err
	}
	browser := &http.Client{Jar: jar, Transport: headerTransport{subjectHeader, subject}, Timeout: patience}
	for _, request := range []func() (*http.Response, error){
		func() (*http.Response, error) { return browser.Get(link) },
		func() (*http.Response, error) { return browser.PostForm(link, nil) },
	} {
		res, err := request()
		if err != nil {
			return err
		}
		_ = res.Body.Close()
		if at := res.Request.URL.Path; res.StatusCode != http.StatusOK || !strings.HasPrefix(at, "/connect") {
			return fmt.Errorf("%s ends at %s: %d", link, at, res.StatusCode)
		}
	}
	return nil
}

// killInTurn kills the replicas, one after the other, at even parts of the calls.
func (s *accountSoak) killInTurn() {
	s.t.Helper()
	for kill := range soakKills {
		if err := s.awaitAnswers(int64(soakCalls * (kill + 1) / (soakKills + 2))); err != nil {
			s.addFault("before kill %d: %v", kill+1, err)
			s.end()
			return
		}
		s.killReplica(kill % soakReplicas)
	}
}

// awaitAnswers waits until so many calls are answered.
func (s *accountSoak) awaitAnswers(due int64) error {
	again := time.NewTicker(5 * time.Millisecond)
	defer again.Stop()
	for began, last := time.Now(), int64(0); ; <-again.C {
		now := s.answered.Load()
		switch {
		case now >= due:
			return nil
		case now > last:
			began, last = time.Now(), now
		case time.Since(began) > patience:
			return fmt.Errorf("no call was answered for %s", patience)
		}
	}
}

// killReplica kills a replica while it refreshes tokens, and starts it again.
func (s *accountSoak) killReplica(i int) {
	s.t.Helper()
	release, before := s.echo.holdRefreshes(), s.echo.counted("cut off refreshes")
	var calls sync.WaitGroup
	for _, c := range s.newRefreshingCalls(4 * soakReplicas) {
		calls.Go(func() { s.makeCall(c, i) })
	}
	for deadline := time.Now().Add(2 * time.Second); s.echo.counted("refreshing") < 2*soakReplicas && time.Now().Before(deadline); {
		<-time.After(5 * time.Millisecond)
	}
	s.mu.Lock()
	victim := s.replicas[i]
	old := victim.server
	victim.server, victim.killed = nil, append(victim.killed, time.Now())
	s.mu.Unlock()
	old.kill()
	for deadline := time.Now().Add(time.Second); s.echo.counted("cut off refreshes") == before && time.Now().Before(deadline); {
		<-time.After(5 * time.Millisecond)
	}
	release()
	calls.Wait()
	s.front.drop(old.base)
	s.startReplica(i)
}

// rebindGrants has grants bind other accounts, until the calls are made.
func (s *accountSoak) rebindGrants() {
	for n := 0; ; n++ {
		select {
		case <-s.stop.Done():
			return
		case <-time.After(100 * time.Millisecond):
		}
		a := s.agents[n%soakRebound]
		b := a.bindings[n/soakRebound%len(a.bindings)]
		account := rand.IntN(soakAccounts)
		b.beginRebind(account)
		for ; ; <-time.After(100 * time.Millisecond) { // a kill may have cut it off
			if err := s.bindAccount(a, b.connector, account); err == nil {
				break
			}
			select {
			case <-s.stop.Done():
				return
			default:
			}
		}
		b.endRebind()
		s.rebinds.Add(1)
	}
}

// approveCalls approves what waits, several at a time, because a call runs while it is approved.
func (s *accountSoak) approveCalls(end context.Context) {
	var decisions sync.WaitGroup
	defer decisions.Wait()
	begun := map[any]bool{}
	for {
		select {
		case <-end.Done():
			return
		case <-time.After(30 * time.Millisecond):
		}
		waiting, err := s.request(http.MethodGet, "/api/v1/approvals?limit=200", nil)
		if err != nil {
			continue // a kill has cut it off
		}
		items, _ := waiting["items"].([]any)
		for _, item := range items {
			approval, _ := item.(object)
			id := approval["id"]
			if begun[id] {
				continue
			}
			begun[id] = true
			decisions.Go(func() {
				if _, err := s.request(http.MethodPost, fmt.Sprintf("/api/v1/tool_calls/%s/approve", id), nil); err == nil {
					s.approved.Add(1)
				}
			})
		}
	}
}
