//go:build e2e

package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"patchbay/internal/postgres"
)

const (
	restartReplicas = 3
	restartAgents   = 6
	restartCallers  = 24                    // each has one request under way at a time
	restartPause    = 50 * time.Millisecond // between a caller's requests
)

// TestCalls_PostgreSQLRestart stops PostgreSQL under callers of three processes. After a short outage no request has failed; of a long one each
// was answered, or refused with the time after which to try again. No call reached its server twice, and none that was refused reached it.
func TestCalls_PostgreSQLRestart(t *testing.T) {
	t.Parallel()
	for _, outage := range []time.Duration{2 * time.Second, 20 * time.Second} {
		t.Run(outage.String(), func(t *testing.T) {
			t.Parallel()
			l := newRestartLoad(t)
			l.start()
			l.allAnswered()
			stopCluster(t, l.cluster)
			<-time.After(outage)
			startCluster(t, l.dir)
			l.allAnswered()
			l.stop()
			refused := l.judge(outage)
			switch {
			case outage < 10*time.Second && refused > 0:
				t.Errorf("%d requests were refused", refused)
			case outage > 15*time.Second && refused == 0:
				t.Error("no request was refused, although the database was away for longer than requests wait")
			}
		})
	}
}

// restartLoad is callers of several processes on one PostgreSQL.
type restartLoad struct {
	t       *testing.T
	dir     string // of the cluster
	cluster *postgres.Cluster
	servers []*server
	owner   client
	callers []*restartCaller

	mu     sync.Mutex
	called map[int]int // how often the server was called with a number; guarded by mu

	next    atomic.Int64 // number
	over    chan struct{}
	running sync.WaitGroup
}

// restartCaller makes one request after the other, each at another process. Only its goroutine uses answers until the load has stopped.
type restartCaller struct {
	load    *restartLoad
	agent   agent
	session string // empty: it calls in the newest era
	answers []restartAnswer
	right   atomic.Int64 // answers
}

type restartAnswer struct {
	number  int // of the call; 0: it was another request
	right   bool
	refused bool // with the time after which to try again
	took    time.Duration
	text    string // of an answer that is neither
}

func newRestartLoad(t *testing.T) *restartLoad {
	h := newHome(t)
	l := &restartLoad{t: t, dir: filepath.Join(h.dir, "postgres"), called: map[int]int{}, over: make(chan struct{})}
	l.cluster = startCluster(t, l.dir)
	h.env = append(h.env, "PATCHBAY_KEYSET="+h.run("keys", "new"), "DATABASE_URL="+l.cluster.URL())
	for range restartReplicas {
		l.servers = append(l.servers, h.serve())
	}
	l.owner = client{t: t, base: l.servers[0].base, key: h.run("apikey", "create", "--tenant", "default", "--role", "owner", "--name", "tests")}
	l.owner.must(http.StatusOK, http.MethodPatch, "/api/v1/tenant", object{"call_history": "full"})
	l.owner.must(http.StatusCreated, http.MethodPost, "/api/v1/connectors", object{
		"name": "Counter", "url": serve(t, counter(l.note)), "auth": object{"type": "bearer", "token": "secret"},
	})
	l.owner.must(http.StatusOK, http.MethodPost, "/connectors/counter/sync_tools", nil)
	var agents []agent
	for i := range restartAgents {
		agents = append(agents, l.owner.hire(fmt.Sprintf("agent-%d", i), "counter"))
	}
	for i := range restartCallers {
		c := &restartCaller{load: l, agent: agents[i%len(agents)]}
		if i%2 == 1 {
			c.session = c.agent.initialize()
		}
		l.callers = append(l.callers, c)
	}
	return l
}

// initialize begins a session of the handshake era.
func (a agent) initialize() (session string) {
	a.t.Helper()
	_, h, _ := a.send("/mcp", `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"e2e","version":"1"}}}`)
	return h.Get("Mcp-Session-Id")
}

func (l *restartLoad) note(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.called[n]++
}

func (l *restartLoad) start() {
	for i, c := range l.callers {
		l.running.Go(func() { c.run(i) })
	}
}

func (l *restartLoad) stop() {
	close(l.over)
	l.running.Wait()
}

// allAnswered waits until each caller has got several right answers from each process.
func (l *restartLoad) allAnswered() {
	l.t.Helper()
	enough := map[*restartCaller]int64{}
	for _, c := range l.callers {
		enough[c] = c.right.Load() + 5*restartReplicas
	}
	eventually(l.t, func() error {
		for c, least := range enough {
			if right := c.right.Load(); right < least {
				return fmt.Errorf("a caller has %d right answers, and waits for %d", right, least)
			}
		}
		return nil
	})
}

func (c *restartCaller) run(first int) {
	pause := time.NewTicker(restartPause)
	defer pause.Stop()
	for n := first; ; n++ {
		a := c.agent
		a.base = c.load.servers[n%restartReplicas].base
		answer := c.ask(a, n)
		c.answers = append(c.answers, answer)
		if answer.right {
			c.right.Add(1)
		}
		select {
		case <-pause.C:
		case <-c.load.over:
			return
		}
	}
}

// ask calls the tool with the next number; each fifth of the caller's requests is for a list, a prompt, or the changes of a resource.
func (c *restartCaller) ask(a agent, n int) (answer restartAnswer) {
	method, params, want := "tools/list", "", `"mcp_counter__count"`
	switch {
	case n%5 > 0:
		answer.number = int(c.load.next.Add(1))
		method, params, want = "tools/call", fmt.Sprintf(`"name":"mcp_counter__count","arguments":{"n":%d}`, answer.number), fmt.Sprintf(`"number %d"`, answer.number)
	case n%3 == 1:
		method, params, want = "prompts/get", `"name":"mcp_counter__greet"`, `"greetings"`
	case n%3 == 2 && c.session != "":
		method, params, want = "resources/subscribe", `"uri":"patchbay+counter:file:///notes"`, `{}`
	}
	message, header := modern(method, params)
	if c.session != "" {
		message = fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{%s}}`, method, params)
		header = []string{"Mcp-Session-Id", c.session, "Mcp-Protocol-Version", "2025-11-25"}
	}
	began := time.Now()
	status, _, r, err := a.try(context.Background(), "/mcp", message, header...)
	answer.took = time.Since(began)
	answer.right = err == nil && r.Error == nil && strings.Contains(string(r.Result), want)
	answer.refused = !answer.right && retryAfter(r) > 0
	if !answer.right && !answer.refused {
		answer.text = fmt.Sprintf("%s: %d %s %+v %v", method, status, r.Result, r.Error, err)
	}
	return answer
}

// retryAfter is after how many seconds a request that was refused is to be tried again; 0: the answer does not say.
func retryAfter(r reply) int {
	type reasons struct {
		Reason struct {
			RetryAfter int `json:"retry_after_s"`
		} `json:"patchbay/reason"`
	}
	if r.Error != nil {
		var data reasons
		_ = json.Unmarshal(r.Error.Data, &data)
		return data.Reason.RetryAfter
	}
	var result struct {
		Meta reasons `json:"_meta"`
	}
	_ = json.Unmarshal(r.Result, &result)
	return result.Meta.Reason.RetryAfter
}

// judge looks at all answers, logs what they came to, and says how many requests were refused.
func (l *restartLoad) judge(outage time.Duration) (refused int) {
	var took []time.Duration
	byNumber := make([]told, l.next.Load())
	wrong := 0
	for _, c := range l.callers {
		for _, a := range c.answers {
			took = append(took, a.took)
			if a.refused {
				refused++
			} else if !a.right {
				if wrong++; wrong <= 10 {
					l.t.Error(a.text)
				}
			}
			if a.number > 0 {
				byNumber[a.number-1] = told{ok: a.right, refused: !a.right}
				if times := l.called[a.number]; times > 1 || a.right != (times == 1) {
					l.t.Errorf("call %d was answered %+v, and reached its server %d times", a.number, a, times)
				}
			}
		}
	}
	slices.Sort(took)
	slowest := took[len(took)-1]
	l.t.Logf("PostgreSQL away for %s: %d requests, %d refused, %d wrong; slowest %s, 99 of 100 within %s", outage, len(took), refused, wrong,
		slowest.Round(time.Millisecond), took[len(took)*99/100].Round(time.Millisecond))
	if slowest > 20*time.Second {
		l.t.Errorf("a request took %s", slowest)
	}
	eventually(l.t, func() error { return agrees(l.owner, byNumber) })
	return refused
}
