package toolsync_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/mcp/mcptest"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
	"patchbay/internal/toolsync"
)

// startRefresh requests new tools, as a destructive call does.
func (b *bundle) startRefresh(t *testing.T, c connectors.Connector) <-chan error {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- b.sync.SyncNow(t.Context(), b.Tenant, c.ID) }()
	return done
}

// wantWaiting fails the test if the refresh ends early.
func wantWaiting(t *testing.T, done <-chan error) {
	t.Helper()
	select {
	case err := <-done:
		t.Fatalf("did not wait: %v", err)
	case <-time.After(50 * time.Millisecond):
	}
}

func listed(up *mcptest.Server) (n int) {
	for _, m := range up.Methods() {
		if m == "tools/list" {
			n++
		}
	}
	return n
}

func TestRefresh_WaitsForTheRunOfAnotherProcess(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	up, asked, release := heldList(t)
	c := b.addConnector(t, up.URL)
	elsewhere := newSyncer(t, b.World, fixture.NewInstance())
	go func() {
		_, _ = elsewhere.Sync(context.WithoutCancel(t.Context()), b.Tenant, toolsync.Request{Connector: connectors.Ref(c.Slug), Trigger: connectors.TriggerManual})
	}()
	<-asked
	done := b.startRefresh(t, c)
	wantWaiting(t, done)
	release()
	if err := <-done; err != nil || len(b.tools(t, c)) != 1 {
		t.Errorf("refreshed to %v, %v", b.tools(t, c), err)
	}
	if n := listed(up); n > 2 { // the other run may end between the check and the own run, which lists again
		t.Errorf("listed %d times", n)
	}
}

func TestRefresh_SyncsWhenTheAwaitedRunFails(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	up := newUpstream(t, mcptest.Script{Tools: mcptest.Tools(2)})
	c := b.addConnector(t, up.URL)
	run, err := b.Door().Syncs().Start(t.Context(), store.SyncStart{NewRun: store.NewRun{ConnectorID: c.ID, Trigger: connectors.TriggerManual}, Instance: b.Instance})
	if err != nil {
		t.Fatal(err)
	}
	done := b.startRefresh(t, c)
	wantWaiting(t, done)
	if n := len(up.Methods()); n != 0 {
		t.Errorf("%d requests were sent beside the run that is under way", n)
	}
	if _, err := b.Door().Syncs().Fail(t.Context(), run.ID, connectors.SyncError{Code: "timeout", Message: "It was silent."}, store.ServerObservation{}); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil || len(b.tools(t, c)) != 2 {
		t.Errorf("refreshed to %v, %v", b.tools(t, c), err)
	}
}

func TestRefresh_ReturnsTheFailure(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	up := newUpstream(t, mcptest.Script{On: map[string]mcptest.Handler{"initialize": mcptest.Status(http.StatusInternalServerError, "")}})
	if err := <-b.startRefresh(t, b.addConnector(t, up.URL)); err == nil {
		t.Error("it is said to have worked")
	}
}

func TestRefresh_CancelledLeavesTheRunGoing(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	up, asked, release := heldList(t)
	c := b.addConnector(t, up.URL)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-asked
		cancel()
	}()
	if err := b.sync.SyncNow(ctx, b.Tenant, c.ID); !errors.Is(err, context.Canceled) {
		t.Errorf("error = %v", err)
	}
	release()
	if run, err := b.sync.Await(t.Context(), b.Tenant, b.lastRun(t, c).ID); err != nil || run.State != connectors.SyncOK {
		t.Errorf("run = %+v, %v", run, err)
	}
}
