//go:build e2e

package e2e_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// soakAgent is an agent with a grant of each connector.
type soakAgent struct {
	slug, token string
	session     string // at /mcp
	bindings    []*soakBinding
}

// soakBinding is what an agent's grant binds over time.
type soakBinding struct {
	connector soakConnector
	several   []int // accounts of a grant that binds several, and never changes; nil: it binds one, or none

	mu    sync.Mutex // guards spans
	spans []bindingSpan
}

// bindingSpan is when an account was bound: from the beginning of the request that binds it to the end of the next one.
type bindingSpan struct {
	account  int
	from, to time.Time // to zero: until now
}

// unbound is the account of a grant that binds none of several.
const unbound = -1

func newSoakAgent(i int) *soakAgent {
	a := &soakAgent{slug: fmt.Sprint("agent", i)}
	for n, c := range soakConnectors {
		if c.perAgent && c.oauth && i%soakOAuthEach != 0 {
			continue
		}
		account := (i + n) % soakAccounts
		if i == soakAgents-1 {
			account = unbound
		}
		b := &soakBinding{connector: c, spans: []bindingSpan{{account: account, from: time.Now()}}}
		if i >= soakRebound && i%soakSeveralEach == 0 {
			b.several = []int{account, (account + 1) % soakAccounts, (account + 3) % soakAccounts}
		}
		a.bindings = append(a.bindings, b)
	}
	return a
}

func (b *soakBinding) beginRebind(account int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.spans = append(b.spans, bindingSpan{account: account, from: time.Now()})
}

func (b *soakBinding) endRebind() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.spans[len(b.spans)-2].to = time.Now()
}

// bound are the subjects that may serve a call of that time.
func (b *soakBinding) bound(agent string, from, to time.Time) (subjects []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, span := range b.spans {
		if span.account != unbound && !span.from.After(to) && (span.to.IsZero() || !span.to.Before(from)) {
			subjects = append(subjects, b.connector.subject(agent, span.account))
		}
	}
	return subjects
}

// addAgent creates an agent with its accounts, grants, token and session.
func (s *accountSoak) addAgent(a *soakAgent) error {
	if _, err := s.request(http.MethodPost, "/api/v1/agents", object{"name": a.slug, "slug": a.slug, "approval": "auto"}); err != nil {
		return err
	}
	for _, b := range a.bindings {
		if b.connector.perAgent {
			if err := s.addAccounts(b.connector, a.slug); err != nil {
				return err
			}
		}
		if err := s.bindAccount(a, b.connector, b.spans[0].account, b.several...); err != nil {
			return err
		}
	}
	made, err := s.request(http.MethodPost, "/api/v1/agents/"+a.slug+"/tokens", object{"name": "tests"})
	if err != nil {
		return err
	}
	a.token, _ = made["token"].(string)
	_, session, _, err := s.send(s.front.URL+"/mcp", a.token, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"e2e","version":"1"}}}`)
	a.session = session
	if err == nil {
		_, _, _, err = s.send(s.front.URL+"/mcp", a.token, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, a.sessionHeader()...)
	}
	return err
}

func (a *soakAgent) sessionHeader() []string {
	return []string{"Mcp-Session-Id", a.session, "Mcp-Protocol-Version", "2025-11-25"}
}

// bindAccount sets a grant of an account, or of several.
func (s *accountSoak) bindAccount(a *soakAgent, c soakConnector, account int, several ...int) error {
	grant := object{"tools": "all", "approval": "trusted_only", "trusted_tools": []string{"look", "later"}}
	switch {
	case len(several) > 0:
		var names []string
		for _, account := range several {
			names = append(names, accountName(account))
		}
		grant["accounts"] = names
	case account == unbound:
		grant["account"] = ""
	default:
		grant["account"] = accountName(account)
	}
	_, err := s.request(http.MethodPut, "/api/v1/agents/"+a.slug+"/connectors/"+c.slug, grant)
	return err
}

// soakClient keeps its connections to the replicas.
var soakClient = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: soakWorkers, IdleConnTimeout: 30 * time.Second}}

// callPatience bounds one request of an agent. It is shorter than the lease of a killed process's refresh, for which a call waits.
const callPatience = 10 * time.Second

// send posts a message, and returns the status, the session and the reply.
func (s *accountSoak) send(address, token, message string, header ...string) (int, string, reply, error) {
	ctx, cancel := context.WithTimeout(s.t.Context(), callPatience)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, address, strings.NewReader(message))
	if err != nil {
		return 0, "", reply{}, err
	}
	r.GetBody = nil // net/http would send some requests again
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	res, err := soakClient.Do(r)
	if err != nil {
		return 0, "", reply{}, err
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		return res.StatusCode, "", reply{}, err
	}
	if strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") {
		raw = lastData(raw)
	}
	var got reply
	if len(raw) > 0 {
		err = json.Unmarshal(raw, &got)
	}
	return res.StatusCode, res.Header.Get("Mcp-Session-Id"), got, err
}

// soakCall is one call, and what became of it.
type soakCall struct {
	n       int
	kind    string
	agent   *soakAgent
	binding *soakBinding
	account int // that it names, if its grant binds several
	replica int

	from, to time.Time
	echoed   string // the subject of the answer; empty: it failed
	failure  error
	excuse   string // why it may fail
}

// bound are the subjects that may serve the call if it is made at that time.
func (c *soakCall) bound(from, to time.Time) []string {
	if len(c.binding.several) > 0 {
		return []string{c.binding.connector.subject(c.agent.slug, c.account)}
	}
	return c.binding.bound(c.agent.slug, from, to)
}

// requestID is the id of the call's requests, by which its row is found.
func (c *soakCall) requestID() string { return fmt.Sprintf("call-%08d", c.n) }

// errCut is a request that ended without an answer.
var errCut = errors.New("no answer")

// makeCalls makes calls until enough are answered.
func (s *accountSoak) makeCalls() {
	for s.stop.Err() == nil {
		s.makeCall(s.newCall(), rand.IntN(soakReplicas))
	}
}

// makeCall makes a call at a replica, or at another one if it does not run.
func (s *accountSoak) makeCall(c *soakCall, replica int) {
	base := s.replicaBase(c, replica)
	c.from = time.Now()
	c.echoed, c.failure = s.sendCall(c, base)
	c.to = time.Now()
	s.judgeCall(c)
	if c.echoed != "" && s.answered.Add(1) == soakCalls {
		s.end()
	}
}

func (s *accountSoak) newCall() *soakCall {
	a := s.agents[rand.IntN(len(s.agents))]
	if rand.IntN(10) == 0 { // those with changing grants make more calls than others
		a = s.agents[rand.IntN(soakRebound)]
	}
	c := &soakCall{n: int(s.numbers.Add(1)), agent: a, binding: a.bindings[rand.IntN(len(a.bindings))]}
	if several := c.binding.several; len(several) > 0 {
		c.account = several[rand.IntN(len(several))]
	}
	switch die := rand.IntN(100); {
	case die < 6:
		c.kind = "approval"
	case die < 14 && c.binding.connector.oauth:
		c.kind = "task"
	case die < 24:
		c.kind = "prompt"
	case die < 34:
		c.kind = "resource"
	case die < 64:
		c.kind = "tool in a session"
	default:
		c.kind = "tool"
	}
	return c
}

// newRefreshingCalls are calls with OAuth accounts of agents, which are used seldom, so that most of their tokens are due.
func (s *accountSoak) newRefreshingCalls(n int) (calls []*soakCall) {
	for len(calls) < n {
		c := s.newCall()
		if i := slices.IndexFunc(c.agent.bindings, func(b *soakBinding) bool { return b.connector.oauth && b.connector.perAgent }); i >= 0 {
			if c.binding = c.agent.bindings[i]; len(c.binding.several) > 0 {
				c.account = c.binding.several[0]
			}
			calls = append(calls, c)
		}
	}
	return calls
}

// replicaBase is the address of the replica, or of the next one that runs.
func (s *accountSoak) replicaBase(c *soakCall, replica int) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c.replica = replica; s.replicas[c.replica].server == nil; {
		c.replica = (c.replica + 1) % soakReplicas
	}
	return s.replicas[c.replica].base
}

// sendCall makes a call and returns the subject that the server has seen.
func (s *accountSoak) sendCall(c *soakCall, base string) (string, error) {
	slug, arguments := c.binding.connector.slug, fmt.Sprintf(`"arguments":{"n":%d}`, c.n)
	own := base + "/mcp/" + slug
	if len(c.binding.several) > 0 {
		own, slug = own+"."+accountName(c.account), slug+"_"+accountName(c.account)
	}
	switch c.kind {
	case "approval":
		return s.sendModern(c, own, "tools/call", `"name":"change",`+arguments)
	case "prompt":
		return s.sendModern(c, own, "prompts/get", fmt.Sprintf(`"name":"note","arguments":{"n":"%d"}`, c.n))
	case "resource":
		return s.sendModern(c, own, "resources/read", fmt.Sprintf(`"uri":"note:///%d"`, c.n))
	case "task":
		return s.sendTask(c, own, `"name":"later",`+arguments)
	case "tool":
		return s.sendModern(c, base+"/mcp", "tools/call", fmt.Sprintf(`"name":"mcp_%s__look",%s`, slug, arguments))
	}
	message := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"mcp_%s__look",%s}}`, c.n, slug, arguments)
	status, _, r, err := s.send(base+"/mcp", c.agent.token, message, append(c.agent.sessionHeader(), "X-Request-Id", c.requestID())...)
	return c.readEcho(status, r, err)
}

func (s *accountSoak) sendModern(c *soakCall, address, method, params string) (string, error) {
	message, header := modern(method, params)
	if uri, ok := strings.CutPrefix(params, `"uri":"`); ok {
		header = append(header, "Mcp-Name", strings.TrimSuffix(uri, `"`))
	}
	status, _, r, err := s.send(address, c.agent.token, message, append(header, "X-Request-Id", c.requestID())...)
	return c.readEcho(status, r, err)
}

// sendTask makes a call that becomes a task, and polls it until it is completed.
func (s *accountSoak) sendTask(c *soakCall, address, params string) (string, error) {
	method := "tools/call"
	for {
		message, header := modern(method, params)
		message = strings.Replace(message, `clientCapabilities":{}`, `clientCapabilities":`+taskCapabilities, 1)
		var task struct{ TaskID, Status string }
		if method == "tasks/get" {
			_ = json.Unmarshal([]byte("{"+params+"}"), &task)
			header = append(header, "Mcp-Name", task.TaskID)
		}
		status, _, r, err := s.send(address, c.agent.token, message, append(header, "X-Request-Id", c.requestID())...)
		if err != nil || status != http.StatusOK || r.Error != nil || json.Unmarshal(r.Result, &task) != nil || task.Status != "working" {
			return c.readEcho(status, r, err)
		}
		method, params = "tasks/get", fmt.Sprintf(`"taskId":%q`, task.TaskID)
		select {
		case <-time.After(30 * time.Millisecond):
		case <-s.t.Context().Done():
			return "", s.t.Context().Err()
		}
	}
}

// readEcho returns the subject of an answer, or why there is none.
func (c *soakCall) readEcho(status int, r reply, err error) (string, error) {
	switch {
	case err != nil:
		return "", fmt.Errorf("%w: %w", errCut, err)
	case r.Error != nil:
		return "", fmt.Errorf("%d: %s %s", r.Error.Code, r.Error.Message, r.Error.Data)
	case status != http.StatusOK:
		return "", fmt.Errorf("status %d", status)
	}
	_, rest, ok := strings.Cut(string(r.Result), fmt.Sprintf("call %d saw ", c.n))
	subject, _, closed := strings.Cut(rest, `"`)
	if !ok || !closed {
		return "", fmt.Errorf("no echo: %.600s", r.Result)
	}
	return subject, nil
}
