//go:build e2e

package e2e_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httputil"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// requestRecorder passes requests on to a server and keeps them as they came.
type requestRecorder struct {
	next http.Handler

	mu       sync.Mutex // guards requests
	requests []string
}

// ServeHTTP implements http.Handler.
func (r *requestRecorder) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	dump, err := httputil.DumpRequest(req, true)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	r.mu.Lock()
	r.requests = append(r.requests, string(dump))
	r.mu.Unlock()
	r.next.ServeHTTP(w, req)
}

// recorded are the requests since the last time.
func (r *requestRecorder) recorded() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := r.requests
	r.requests = nil
	return all
}

// TestAccounts_OfOthersChangeNoByte has an agent with one account list and call tools, before and after another agent
// has several accounts at the same connector. Its answers and the requests to the server stay the same bytes.
func TestAccounts_OfOthersChangeNoByte(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	echo := newEchoServer(t)
	up := &requestRecorder{next: http.HandlerFunc(echo.serveSessions)}
	address := serve(t, up)
	c := client{t: t, base: h.serve().base, key: h.run("apikey", "create", "--tenant", "default", "--role", "owner", "--name", "tests")}
	c.must(http.StatusCreated, http.MethodPost, "/api/v1/connectors", object{
		"name": "Notes", "url": address, "auth": object{"type": "bearer"}, "credential_mode": "per_agent", "sync_interval_s": 0, "listen": "off",
	})
	ann := c.hire("ann", "notes")
	c.must(http.StatusNoContent, http.MethodPut, "/api/v1/connectors/notes/agents/ann/credential", object{"token": "key.ann"})
	c.must(http.StatusOK, http.MethodPost, "/connectors/notes/sync_tools", nil)

	ann.exchanges(1) // opens the session
	up.recorded()
	before, sent := ann.exchanges(2), up.recorded()
	c.hire("bob", "notes")
	for _, account := range []string{"work", "home"} {
		c.must(http.StatusNoContent, http.MethodPut, "/api/v1/connectors/notes/agents/bob/credential?account="+account, object{"token": "key.bob-" + account})
	}
	if diff := cmp.Diff(before, ann.exchanges(2)); diff != "" {
		t.Errorf("the agent's answers: %s", diff)
	}
	if diff := cmp.Diff(withoutNumbers(sent), withoutNumbers(up.recorded())); diff != "" || len(sent) != 2 {
		t.Errorf("%d requests to the server: %s", len(sent), diff)
	}
	for _, request := range sent {
		if !strings.Contains(request, "Authorization: Bearer key.ann\r\n") {
			t.Errorf("a request with another account: %s", request)
		}
	}
}

// exchanges lists and calls tools with the number n, and returns the answers with their headers.
func (a agent) exchanges(n int) (answers []string) {
	a.t.Helper()
	for _, params := range []string{"", fmt.Sprintf(`"name":"mcp_notes__look","arguments":{"n":%d}`, n), fmt.Sprintf(`"name":"mcp_notes__change","arguments":{"n":%d}`, n)} {
		method := "tools/call"
		if params == "" {
			method = "tools/list"
		}
		message, header := modern(method, params)
		r, err := http.NewRequestWithContext(a.t.Context(), http.MethodPost, a.base+"/mcp", strings.NewReader(message))
		if err != nil {
			a.t.Fatal(err)
		}
		r.Header = http.Header{"Authorization": {"Bearer " + a.token}, "Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}
		for i := 0; i+1 < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		res, err := localClient.Do(r)
		if err != nil {
			a.t.Fatal(err)
		}
		body, err := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if err != nil || res.StatusCode != http.StatusOK || method == "tools/call" && !bytes.Contains(body, []byte("saw ann")) {
			a.t.Fatalf("%s: %d %s, %v", method, res.StatusCode, body, err)
		}
		res.Header.Del("Date")
		res.Header.Del("X-Request-Id")
		answers = append(answers, fmt.Sprint(res.Status, res.Header, string(body)))
	}
	return answers
}

var messageNumber = regexp.MustCompile(`"id":\d+|"progressToken":("[^"]*"|\d+)|Content-Length: \d+`)

// withoutNumbers are requests without the ids of their messages, which count up.
func withoutNumbers(requests []string) (without []string) {
	for _, request := range requests {
		without = append(without, messageNumber.ReplaceAllString(request, ""))
	}
	return without
}
