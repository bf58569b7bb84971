package listchanges_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"patchbay/internal/connectors"
	"patchbay/internal/credentials"
	"patchbay/internal/listchanges"
	"patchbay/internal/safehttp"
	"patchbay/internal/secret"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
	"patchbay/internal/toolsync"
)

// patience bounds the wait for immediate effects: other packages' tests may load both cores.
const patience = time.Minute

// process is one of several Patchbay processes on one database.
type process struct {
	*fixture.World
	*listchanges.Manager
	syncer   *toolsync.Syncer
	instance connectors.InstanceID
}

// setQuick shortens the keeper's intervals.
func setQuick(o *listchanges.Options) {
	o.PollInterval, o.MinSyncInterval, o.Backoff = 40*time.Millisecond, time.Millisecond, time.Millisecond
}

// start starts a process that listens to the database. Its heartbeat outlasts any test.
func start(t testing.TB, w *fixture.World, opts ...func(*listchanges.Options)) *process {
	t.Helper()
	st, err := store.Open(t.Context(), w.Pool, w.KEK)
	must(t, err)
	t.Cleanup(st.Close)
	p := &process{World: w, instance: fixture.NewInstance()}
	must(t, st.System().Syncs().Heartbeat(t.Context(), p.instance))
	p.setHeartbeat(t, "+ interval '1 hour'")
	p.syncer = toolsync.New(toolsync.Options{
		Store: st, Credentials: credentials.New(st), Egress: safehttp.New(safehttp.Options{Mode: safehttp.Local}), Instance: p.instance,
	})
	o := listchanges.Options{Store: st, Syncer: p.syncer, Instance: p.instance}
	setQuick(&o)
	for _, opt := range opts {
		opt(&o)
	}
	p.Manager = listchanges.New(o)
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	heard := make(chan struct{})
	go func() {
		defer close(heard)
		_ = st.Watch(ctx, p.OnNotice, p.SetConnected)
	}()
	p.Manager.Start()
	t.Cleanup(func() {
		p.Stop(context.WithoutCancel(t.Context()))
		cancel()
		<-heard
	})
	return p
}

// setHeartbeat sets the time of the last heartbeat.
func (p *process) setHeartbeat(t testing.TB, when string) {
	t.Helper()
	_, err := p.Pool.Exec(t.Context(), "update instances set beat_at = now() "+when+" where id = $1", p.instance)
	must(t, err)
}

// addConnector creates a connector for a server and syncs it.
func (p *process) addConnector(t testing.TB, url string, opts ...func(*connectors.Draft)) connectors.Connector {
	t.Helper()
	c := p.Connector(t, append([]func(*connectors.Draft){func(d *connectors.Draft) { d.URL, d.RetryAttempts = url, 0 }}, opts...)...)
	return p.sync(t, c)
}

func (p *process) sync(t testing.TB, c connectors.Connector) connectors.Connector {
	t.Helper()
	_, err := p.syncer.Sync(t.Context(), p.Tenant, toolsync.Request{Connector: connectors.Ref(c.Slug), Trigger: connectors.TriggerManual})
	must(t, err)
	c, err = p.Door().Connectors().Get(t.Context(), connectors.Ref(c.Slug))
	must(t, err)
	return c
}

// runQueued waits for a queued run and performs it.
func (p *process) runQueued(t testing.TB, c connectors.Connector) connectors.SyncRun {
	t.Helper()
	var id connectors.SyncRunID
	within(t, "a sync is queued", func() bool {
		runs, err := p.Door().Syncs().List(t.Context(), c.ID, store.Page{Limit: 1})
		must(t, err)
		id = runs.Items[0].ID
		return runs.Items[0].State == connectors.SyncQueued
	})
	report, err := p.syncer.Sync(t.Context(), p.Tenant, toolsync.Request{Connector: connectors.Ref(c.Slug), Run: &id})
	must(t, err)
	return report.Run
}

func (p *process) storeToken(t testing.TB, c connectors.Connector, text secret.Text) {
	t.Helper()
	encoded, err := connectors.Secret{Token: text}.Encode()
	must(t, err)
	p.Credential(t, c.ID, nil, encoded)
}

func (p *process) listening(t testing.TB, c connectors.Connector) connectors.Listening {
	t.Helper()
	all, err := p.Door().Syncs().Listenings(t.Context(), c.ID)
	must(t, err)
	return all[c.ID]
}

// waitState waits for a state and reason of the connector's stream.
func (p *process) waitState(t testing.TB, c connectors.Connector, state connectors.ListenState, reason connectors.ListenReason) {
	t.Helper()
	within(t, string(state)+" "+string(reason), func() bool {
		l := p.listening(t, c)
		return l.State == state && l.Reason == reason
	})
}

// upstream is an SDK server that counts its notification streams.
type upstream struct {
	*sdk.Server
	url        string
	streams    atomic.Int32
	maxStreams atomic.Int32                  // maximum at once
	opened     atomic.Int32                  // in total
	failing    atomic.Bool                   // fails requests and has dropped its sessions
	closeAll   func()                        // closes all connections
	held       atomic.Pointer[chan struct{}] // new streams wait until it is closed; nil: none
}

func serve(t testing.TB, stateless bool) *upstream {
	t.Helper()
	u := &upstream{Server: sdk.NewServer(&sdk.Implementation{Name: "peer", Version: "v1"}, nil)}
	u.addTool("first")
	handler := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return u.Server }, &sdk.StreamableHTTPOptions{Stateless: stateless})
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if u.failing.Load() {
			w.WriteHeader(map[bool]int{true: http.StatusNotFound, false: http.StatusServiceUnavailable}[r.Header.Get("Mcp-Session-Id") != ""])
			return
		}
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		if r.Method == http.MethodGet || strings.Contains(string(body), "subscriptions/listen") {
			u.opened.Add(1)
			n := u.streams.Add(1)
			defer u.streams.Add(-1)
			if queue := u.held.Load(); queue != nil {
				select {
				case <-*queue:
				case <-r.Context().Done():
				}
			}
			for most := u.maxStreams.Load(); n > most; most = u.maxStreams.Load() {
				u.maxStreams.CompareAndSwap(most, n)
			}
		}
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		front.CloseClientConnections()
		front.Close()
	})
	u.url, u.closeAll = front.URL, front.CloseClientConnections
	return u
}

// addTool adds a tool, and the server notifies all streams.
func (u *upstream) addTool(tool string) {
	u.AddTool(&sdk.Tool{Name: tool, InputSchema: map[string]any{"type": "object"}},
		func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			return &sdk.CallToolResult{}, nil
		})
}

func within(t testing.TB, what string, is func() bool) {
	t.Helper()
	end := time.After(patience)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !is() {
		select {
		case <-tick.C:
		case <-end:
			t.Fatalf("not within %s: %s", patience, what)
		}
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
