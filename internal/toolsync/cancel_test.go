package toolsync_test

import (
	"net/http"
	"testing"

	"github.com/google/uuid"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/mcp/mcptest"
	"patchbay/internal/store"
	"patchbay/internal/toolsync"
)

// hangingServer never answers tools/list. It says when it is asked, and when that connection ends.
type hangingServer struct {
	*mcptest.Server
	asked, closed chan struct{}
}

func newHangingServer(t *testing.T) *hangingServer {
	t.Helper()
	h := &hangingServer{asked: make(chan struct{}, 1), closed: make(chan struct{}, 1)}
	h.Server = mcptest.Start(t, mcptest.Script{On: map[string]mcptest.Handler{"tools/list": func(_ http.ResponseWriter, r *http.Request, _ mcptest.Call) {
		h.asked <- struct{}{}
		<-r.Context().Done()
		h.closed <- struct{}{}
	}}})
	return h
}

func (b *bundle) actor(t *testing.T, role connectors.Role) auth.Actor {
	t.Helper()
	m := b.Member(t, role)
	return auth.Actor{Kind: auth.KindPerson, Tenant: connectors.Tenant{ID: b.Tenant}, Role: role, UserID: &m.UserID, Name: m.DisplayName()}
}

// startSync syncs in the background, and returns the active run.
func (b *bundle) startSync(t *testing.T, c connectors.Connector, h *hangingServer) (run connectors.SyncRunID, ended <-chan error) {
	t.Helper()
	done := make(chan error, 1)
	go func() {
		_, err := b.sync.Sync(t.Context(), b.Tenant, toolsync.Request{Connector: connectors.Ref(c.Slug), Trigger: connectors.TriggerManual})
		done <- err
	}()
	<-h.asked
	return *b.reload(t, c).Running, done
}

func TestCancel_EndsTheRunAndItsConnection(t *testing.T) {
	t.Parallel()
	b, h := newBundle(t), newHangingServer(t)
	c := b.addConnector(t, h.URL)
	b.Synced(t, c.ID, "search")
	before := b.reload(t, c)
	run, ended := b.startSync(t, c, h)

	if _, err := b.sync.Cancel(t.Context(), b.actor(t, connectors.RoleViewer), run); !fault.Is(err, fault.Denied) {
		t.Errorf("a viewer: %v", err)
	}
	ada := b.actor(t, connectors.RoleMember)
	cancelled, err := b.sync.Cancel(t.Context(), ada, run)
	if err != nil || cancelled.State != connectors.SyncCancelled || cancelled.CancelledBy != ada.Name || cancelled.FinishedAt == nil {
		t.Fatalf("%+v, %v", cancelled, err)
	}
	<-h.closed
	if err := <-ended; fault.As(err).Type != store.TypeSyncCancelled {
		t.Errorf("the sync ends with %v", err)
	}
	after := b.reload(t, c)
	if after.Running != nil || after.LastError != nil || after.Status != before.Status || !after.ToolsLastSyncedAt.Equal(*before.ToolsLastSyncedAt) || after.Clock.Failures != 0 {
		t.Errorf("the connector is %+v", after)
	}
	if tools := b.tools(t, c); len(tools) != 1 || tools["search"].RemovedAt != nil {
		t.Errorf("the tools are %v", tools)
	}
	if requests, err := b.Door().Syncs().RunRequests(t.Context(), run); err != nil || len(requests.List) == 0 {
		t.Errorf("its requests: %+v, %v", requests, err)
	}
	if _, err := b.sync.Cancel(t.Context(), ada, run); fault.As(err).Type != store.TypeSyncCancelled {
		t.Errorf("twice: %v", err)
	}
	if _, err := b.sync.Cancel(t.Context(), ada, connectors.SyncRunID{UUID: uuid.New()}); !fault.Is(err, fault.NotFound) {
		t.Errorf("none: %v", err)
	}
	var recorded int
	b.AsSystem(t, `select count(*) from audit_events where tenant_id = $1 and action = 'connector.sync_cancel' and actor_id = $2 and detail ->> 'sync_run_id' = $3`,
		[]any{b.Tenant, ada.UserID.UUID, run.String()}, &recorded)
	if recorded != 1 {
		t.Errorf("%d audit entries", recorded)
	}
	_, ended = b.startSync(t, c, h) // the connector is free
	if _, err := b.sync.Cancel(t.Context(), ada, *b.reload(t, c).Running); err != nil {
		t.Error(err)
	}
	<-ended
}

func TestCancel_QueuedRunNeverBegins(t *testing.T) {
	t.Parallel()
	b, h := newBundle(t), newHangingServer(t)
	c := b.addConnector(t, h.URL)
	queued, err := b.sync.Queue(t.Context(), b.Tenant, toolsync.Request{Connector: connectors.Ref(c.Slug), Trigger: connectors.TriggerAPI})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.sync.Cancel(t.Context(), b.actor(t, connectors.RoleMember), queued.ID); err != nil {
		t.Fatal(err)
	}
	_, err = b.sync.Sync(t.Context(), b.Tenant, toolsync.Request{Connector: connectors.Ref(c.Slug), Run: &queued.ID})
	if fault.As(err).Type != store.TypeSyncTaken {
		t.Errorf("it begins: %v", err)
	}
	if err := b.sync.RestartInterrupted(t.Context(), b.Tenant, queued.ID); err != nil || b.lastRun(t, c).ID != queued.ID {
		t.Errorf("it is restarted: %v", err)
	}
	if run, err := b.sync.Await(t.Context(), b.Tenant, queued.ID); err != nil || run.State != connectors.SyncCancelled {
		t.Errorf("%+v, %v", run, err)
	}
}

// Another process cancels: the one that performs the run is notified, or finds out by its heartbeat.
func TestCancel_ReachesAnotherProcess(t *testing.T) {
	t.Parallel()
	for _, notified := range []bool{true, false} {
		b, h := newBundle(t), newHangingServer(t)
		c := b.addConnector(t, h.URL)
		if !notified {
			if err := b.sync.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		run, ended := b.startSync(t, c, h)
		other := newUnstartedSyncer(t, b.World, connectors.InstanceID{UUID: uuid.New()})
		if _, err := other.Cancel(t.Context(), b.actor(t, connectors.RoleMember), run); err != nil {
			t.Fatal(err)
		}
		if notified {
			b.sync.OnNotify(store.ChangeEvent{Kind: store.NoticeSync, Tenant: b.Tenant, ID: run.String()})
		}
		<-h.closed
		if err := <-ended; fault.As(err).Type != store.TypeSyncCancelled {
			t.Errorf("notified %t: the sync ends with %v", notified, err)
		}
	}
}
