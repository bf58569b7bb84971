package toolsync_test

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/mcp/mcptest"
	"patchbay/internal/testing/fixture"
	"patchbay/internal/toolsync"
)

// queueRun stores a run without a job.
func (b *bundle) queueRun(t *testing.T, c connectors.Connector) connectors.SyncRunID {
	t.Helper()
	run, err := b.sync.Queue(t.Context(), b.Tenant, toolsync.Request{Connector: connectors.Ref(c.Slug), Trigger: connectors.TriggerOAuth})
	if err != nil {
		t.Fatal(err)
	}
	return run.ID
}

// heldList is a server that answers tools/list after release; asked is closed when the request arrives.
func heldList(t *testing.T) (up *mcptest.Server, asked <-chan struct{}, release func()) {
	t.Helper()
	begun, hold := make(chan struct{}), make(chan struct{})
	var once, open sync.Once
	release = func() { open.Do(func() { close(hold) }) }
	up = newUpstream(t, mcptest.Script{On: map[string]mcptest.Handler{"tools/list": func(w http.ResponseWriter, r *http.Request, c mcptest.Call) {
		once.Do(func() { close(begun) })
		<-hold
		mcptest.ListResult(mcptest.Tool("late"))(w, r, c)
	}}})
	t.Cleanup(release)
	return up, begun, release
}

func TestAwait_PerformsAQueuedRun(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	id := b.queueRun(t, b.addConnector(t, newUpstream(t, mcptest.Script{Tools: mcptest.Tools(3)}).URL))
	run, err := b.sync.Await(t.Context(), b.Tenant, id)
	if err != nil || run.State != connectors.SyncOK || run.Counts.Total != 3 || run.Trigger != connectors.TriggerOAuth {
		t.Errorf("run = %+v, %v", run, err)
	}
	again, err := b.sync.Await(t.Context(), b.Tenant, id)
	if diff := cmp.Diff(run, again); diff != "" || err != nil {
		t.Errorf("an ended one: %v\n%s", err, diff)
	}
}

func TestAwait_WaitsForTheRunOfAnotherProcess(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	up, asked, release := heldList(t)
	c := b.addConnector(t, up.URL)
	id := b.queueRun(t, c)
	worker := newSyncer(t, b.World, fixture.NewInstance())
	go func() {
		_, _ = worker.Sync(context.WithoutCancel(t.Context()), b.Tenant, toolsync.Request{Connector: connectors.Ref(c.Slug), Run: &id})
	}()
	<-asked
	result := make(chan connectors.SyncRun, 1)
	go func() {
		run, err := b.sync.Await(t.Context(), b.Tenant, id)
		if err != nil {
			t.Errorf("await: %v", err)
		}
		result <- run
	}()
	select {
	case run := <-result:
		t.Fatalf("did not wait: %+v", run)
	case <-time.After(50 * time.Millisecond):
	}
	release()
	if run := <-result; run.State != connectors.SyncOK || run.Counts.Total != 1 {
		t.Errorf("run = %+v", run)
	}
	if n := listed(up); n != 1 {
		t.Errorf("listed %d times", n)
	}
}

func TestAwait_CancelledLeavesTheRunGoing(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	up, asked, release := heldList(t)
	id := b.queueRun(t, b.addConnector(t, up.URL))
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-asked
		cancel()
	}()
	run, err := b.sync.Await(ctx, b.Tenant, id)
	if !errors.Is(err, context.Canceled) || run.ID != id || run.FinishedAt != nil {
		t.Errorf("run = %+v, %v", run, err)
	}
	release()
	if run, err = b.sync.Await(t.Context(), b.Tenant, id); err != nil || run.State != connectors.SyncOK {
		t.Errorf("run = %+v, %v", run, err)
	}
}

func TestAwait_ReturnsAFailedRunWithItsReason(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	up := newUpstream(t, mcptest.Script{On: map[string]mcptest.Handler{"initialize": mcptest.Status(http.StatusInternalServerError, "")}})
	run, err := b.sync.Await(t.Context(), b.Tenant, b.queueRun(t, b.addConnector(t, up.URL)))
	if err != nil || run.State != connectors.SyncFailed || run.ErrorCode != "http_status" || run.ErrorMessage == "" {
		t.Errorf("run = %+v, %v", run, err)
	}
	id := b.queueRun(t, b.addConnector(t, up.URL))
	b.sync.Stop(t.Context())
	if run, err = b.sync.Await(t.Context(), b.Tenant, id); run.State != connectors.SyncQueued {
		t.Errorf("run = %+v", run)
	}
	if fault.As(err).Code != toolsync.CodeStopping {
		t.Errorf("error = %v", err)
	}
	if _, err = b.sync.Await(t.Context(), b.Other, id); !fault.Is(err, fault.NotFound) {
		t.Errorf("error = %v", err)
	}
}
