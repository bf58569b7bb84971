//go:build e2e

package e2e_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// bearing is the header that an agent sends to the connector, from its configuration with credentials.
func (c client) bearing(agent string) (string, error) {
	status, answer, err := c.try(http.MethodGet, "/api/v1/agents/"+agent+"/mcp_config?direct=true", nil)
	if err != nil || status != http.StatusOK {
		return "", fmt.Errorf("%d %v %w", status, answer, err)
	}
	var config struct {
		Servers map[string]struct {
			Headers map[string]string `json:"headers"`
		} `json:"mcpServers"`
	}
	text, _ := json.Marshal(answer)
	if err := json.Unmarshal(text, &config); err != nil {
		return "", err
	}
	header := config.Servers["notes"].Headers["Authorization"]
	if header == "" {
		return "", fmt.Errorf("no header in %v", answer)
	}
	return header, nil
}

func TestRefresh_FiftyUsersOnThreeProcessesCauseOne(t *testing.T) {
	t.Parallel()
	w := newConnecting(t)
	doors := []client{w.c}
	for range 2 {
		s := w.launch()
		s.waitReady()
		doors = append(doors, client{t: t, base: s.base, key: w.c.key})
	}
	w.withExpired("ann")
	before := w.as.counts()["refresh_token"]

	w.as.pull("hold")
	var users sync.WaitGroup
	seen := make([]string, 50)
	for i := range seen {
		users.Go(func() {
			header, err := doors[i%len(doors)].bearing("ann")
			if err != nil {
				t.Errorf("user %d: %v", i, err)
			}
			seen[i] = header
		})
	}
	w.held(1)
	w.as.pull("release")
	users.Wait()
	if n := w.as.counts()["refresh_token"] - before; n != 1 {
		t.Errorf("%d refreshes", n)
	}
	for i, header := range seen {
		if header != seen[0] {
			t.Errorf("user %d has another token", i)
		}
	}
	if len(seen[0]) < 7 || !w.as.accepts("/mcp", seen[0][len("Bearer "):]) {
		t.Error("the token is not good")
	}
}

// withExpired connects accounts for agents, and waits until their tokens have expired; the next ones live an hour.
func (w *connecting) withExpired(agents ...string) {
	w.t.Helper()
	w.connector("/mcp", agents...)
	w.as.live(2)
	for _, agent := range agents {
		w.connect(agent, agent+"@example.com")
	}
	w.as.live(3600)
	for _, agent := range agents {
		w.expired(agent)
	}
}

// held waits until n token requests are held at the authorization server.
func (w *connecting) held(n int) {
	w.t.Helper()
	eventually(w.t, func() error {
		if held := w.as.counts()["held"]; held != n {
			return fmt.Errorf("%d token requests are held", held)
		}
		return nil
	})
}

// TestRefresh_InterruptedIsTakenOverOrLost cuts off two: ann's before the server took it, by killing the process that
// asked, and bob's after the server rotated the token, by losing the answer. It waits for the real lease: half a minute.
func TestRefresh_InterruptedIsTakenOverOrLost(t *testing.T) {
	t.Parallel()
	w := newConnecting(t)
	survivor := w.launch()
	survivor.waitReady()
	w.withExpired("ann", "bob")
	before := w.as.counts()["refresh_token"]
	other := client{t: t, base: survivor.base, key: w.c.key}

	w.as.pull("lose")
	if _, err := other.bearing("bob"); err == nil {
		t.Error("bob has a token, and its answer was lost")
	}
	if credential := w.credential("bob"); credential["status"] != "refresh_failed" {
		t.Errorf("before it is known what became of bob's: %v", credential)
	}

	w.as.pull("hold")
	go func() { _, _ = w.c.bearing("ann") }()
	w.held(1)
	w.s.kill()
	killed := time.Now()
	w.held(0) // if released before the server notices the closed connection, the request would be served
	w.as.pull("release")
	w.c.base = survivor.base
	var header string
	eventually(t, func() (err error) { header, err = other.bearing("ann"); return err })
	if took := time.Since(killed); took > time.Minute || !w.as.accepts("/mcp", strings.TrimPrefix(header, "Bearer ")) {
		t.Errorf("the other process took over after %s", took)
	}

	eventually(t, func() error {
		if credential := w.credential("bob"); credential["status"] != "revoked" {
			_, err := other.bearing("bob")
			return fmt.Errorf("bob's is %v: %w", credential, err)
		}
		return nil
	})
	if said, _ := w.credential("bob")["error"].(string); !strings.Contains(said, "was lost") {
		t.Errorf("bob is told %q", said)
	}
	if n := w.as.counts()["refresh_token"] - before; n != 3 {
		t.Errorf("%d refreshes: one of ann's, and two of bob's were to be", n)
	}
}
