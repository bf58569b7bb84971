//go:build e2e

package e2e_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestKill_OfServerLosesNothing(t *testing.T) {
	t.Parallel()
	h, s, c, names := synced(t)
	s.kill()
	c.base = h.serve().base
	if diff := cmp.Diff(names, c.tools("tools")); diff != "" {
		t.Error(diff)
	}
}

func TestKillOfBothLosesNothing(t *testing.T) {
	t.Parallel()
	h, s, c, names := synced(t)
	postmaster := h.postmaster()
	if err := errors.Join(s.cmd.Process.Kill(), syscall.Kill(postmaster, syscall.SIGKILL)); err != nil {
		t.Fatal(err)
	}
	s.wait()
	c.base = h.serve().base
	if diff := cmp.Diff(names, c.tools("tools")); diff != "" {
		t.Error(diff)
	}
}

func TestKillOfPostgreSQLIsHealedWhileServing(t *testing.T) {
	t.Parallel()
	h, s, c, names := synced(t)
	first := h.postmaster()
	if err := syscall.Kill(first, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	// In between, requests are refused as unavailable, and nothing else.
	eventually(t, func() error {
		status, _, err := c.try(http.MethodGet, "/api/v1/connectors/tools", nil)
		switch {
		case err != nil:
			return err
		case status != http.StatusOK && status != http.StatusServiceUnavailable:
			t.Errorf("a request without a database is answered %d", status)
		case h.postmaster() == first || status != http.StatusOK:
			return fmt.Errorf("not healed: %d", status)
		}
		return nil
	})
	if diff := cmp.Diff(names, c.tools("tools")); diff != "" {
		t.Error(diff)
	}
	eventually(t, func() error { return s.readyz(http.StatusOK) })
	c.must(http.StatusOK, http.MethodPost, "/connectors/tools/sync_tools", nil)
	if code := s.terminate(); code != 0 {
		t.Errorf("the server ended with %d", code)
	}
}

// hanging is an upstream that accepts a request and does not respond until told.
type hanging struct {
	*httptest.Server
	asked chan struct{} // closed at the first request
	free  chan struct{}
}

func newHanging(t *testing.T) *hanging {
	t.Helper()
	u := &hanging{asked: make(chan struct{}), free: make(chan struct{})}
	var first sync.Once
	u.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		first.Do(func() { close(u.asked) })
		select {
		case <-u.free:
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(func() {
		close(u.free)
		u.Close()
	})
	return u
}

func TestSyncCutOffByAKillBlocksNoLaterOne(t *testing.T) {
	t.Parallel()
	h, s, c, names := synced(t)
	upstream := newHanging(t)
	address, _ := c.must(http.StatusOK, http.MethodGet, "/api/v1/connectors/tools", nil)["url"].(string)
	c.must(http.StatusOK, http.MethodPatch, "/api/v1/connectors/tools", object{"url": upstream.URL + "/mcp"})

	cut := make(chan error, 1)
	go func() {
		_, _, err := c.try(http.MethodPost, "/connectors/tools/sync_tools", nil)
		cut <- err
	}()
	<-upstream.asked
	if status, answer := c.call(http.MethodPost, "/connectors/tools/sync_tools", nil); status != http.StatusConflict {
		t.Errorf("a second sync beside the first: %d %v", status, answer)
	}
	s.kill()
	if err := <-cut; err == nil {
		t.Error("the sync was answered by a dead server")
	}

	c.base = h.serve().base
	if diff := cmp.Diff(names, c.tools("tools")); diff != "" {
		t.Errorf("tools after the kill: %s", diff)
	}
	c.must(http.StatusOK, http.MethodPatch, "/api/v1/connectors/tools", object{"url": address})
	c.must(http.StatusOK, http.MethodPost, "/connectors/tools/sync_tools", nil)

	runs, _ := c.must(http.StatusOK, http.MethodGet, "/api/v1/connectors/tools/sync_runs", nil)["items"].([]any)
	var ends []any
	for _, item := range runs {
		run, _ := item.(object)
		ends = append(ends, run["status"])
		if run["status"] == "error" {
			if reason, _ := run["error"].(object); reason["code"] != "interrupted" {
				t.Errorf("the cut off run says %v", run["error"])
			}
		}
	}
	if diff := cmp.Diff([]any{"ok", "error", "ok"}, ends); diff != "" {
		t.Errorf("runs, newest first: %s", diff)
	}
}
