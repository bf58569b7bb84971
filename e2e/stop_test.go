//go:build e2e

package e2e_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSIGTERMEndsCleanly(t *testing.T) {
	t.Parallel()
	inEachHTTPMode(t, testSIGTERMEndsCleanly)
}

func testSIGTERMEndsCleanly(t *testing.T, setting string) {
	h, s, owner, c := install(t, setting)
	slow := h.devMCP("--delay", "2s")
	c.must(http.StatusCreated, http.MethodPost, "/api/v1/connectors", object{"name": "Slow", "url": slow + "/slow"})

	stream, err := owner.client.Get(s.base + "/events")
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Body.Close()
	if stream.StatusCode != http.StatusOK {
		t.Fatalf("the event stream answers %d", stream.StatusCode)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = io.Copy(io.Discard, stream.Body)
	}()
	answered := make(chan int, 1)
	go func() {
		status, _, _ := c.try(http.MethodPost, "/connectors/slow/sync_tools", nil)
		answered <- status
	}()
	eventually(t, func() error {
		return runningSync(c, "slow")
	})
	postmaster := h.postmaster()

	if code := s.terminate(); code != 0 {
		t.Errorf("the server ended with %d", code)
	}
	if status := <-answered; status != http.StatusOK {
		t.Errorf("the sync that was under way is answered %d", status)
	}
	<-ended
	if alive(postmaster) {
		t.Error("PostgreSQL outlives the server")
	}
}

func TestSecondSignalDoesNotWait(t *testing.T) {
	t.Parallel()
	h, s, c, names := synced(t)
	upstream := newHanging(t)
	c.must(http.StatusOK, http.MethodPatch, "/api/v1/connectors/tools", object{"url": upstream.URL + "/mcp"})
	cut := make(chan struct{})
	go func() {
		defer close(cut)
		_, _, _ = c.try(http.MethodPost, "/connectors/tools/sync_tools", nil)
	}()
	<-upstream.asked
	postmaster := h.postmaster()

	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if _, ok := s.stderr.wait("server stopping", s.exited); !ok {
		t.Fatal("the first signal was not heard")
	}
	if code := s.terminate(); code != 1 {
		t.Errorf("the server ended with %d", code)
	}
	if said := s.stderr.text(); !strings.Contains(said, "patchbay: stopped by a second signal.") {
		t.Errorf("it ended as if there had been one signal:\n%s", said)
	}
	<-cut
	eventually(t, func() error {
		if alive(postmaster) {
			return errors.New("PostgreSQL outlives the server")
		}
		return nil
	})
	c.base = h.serve().base
	if diff := cmp.Diff(names, c.tools("tools")); diff != "" {
		t.Error(diff)
	}
}

// runningSync is nil once a sync of the connector is under way.
func runningSync(c client, connector string) error {
	_, answer, err := c.try(http.MethodGet, "/api/v1/connectors/"+connector+"/sync_runs", nil)
	if err != nil {
		return err
	}
	items, _ := answer["items"].([]any)
	for _, item := range items {
		if run, _ := item.(object); run["status"] == "running" {
			return nil
		}
	}
	return errors.New("no sync is under way")
}
