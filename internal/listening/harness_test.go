package listening_test

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
	"patchbay/internal/listening"
	"patchbay/internal/safehttp"
	"patchbay/internal/secret"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
	"patchbay/internal/toolsync"
)

// patience is how long a test waits for what happens at once: two cores may be busy with other packages' tests.
const patience = time.Minute

// process is one Patchbay beside others on one database.
type process struct {
	*fixture.World
	*listening.Keeper
	syncer   *toolsync.Syncer
	instance connectors.InstanceID
}

// quick has a keeper do at once what usually takes its time.
func quick(o *listening.Options) {
	o.Round, o.Gap, o.Backoff = 40*time.Millisecond, time.Millisecond, time.Millisecond
}

// start starts a process. It listens to the database, and is alive for as long as any test.
func start(t testing.TB, w *fixture.World, opts ...func(*listening.Options)) *process {
	t.Helper()
	st, err := store.Open(t.Context(), w.Pool, w.KEK)
	must(t, err)
	t.Cleanup(st.Close)
	p := &process{World: w, instance: fixture.NewInstance()}
	must(t, st.System().Beat(t.Context(), p.instance))
	p.beats(t, "+ interval '1 hour'")
	p.syncer = toolsync.New(toolsync.Options{
		Store: st, Credentials: credentials.New(st), Egress: safehttp.New(safehttp.Options{Mode: safehttp.Local}), Instance: p.instance,
	})
	o := listening.Options{Store: st, Syncer: p.syncer, Instance: p.instance}
	quick(&o)
	for _, opt := range opts {
		opt(&o)
	}
	p.Keeper = listening.New(o)
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	heard := make(chan struct{})
	go func() {
		defer close(heard)
		_ = st.Watch(ctx, p.Hear, p.Connected)
	}()
	p.Keeper.Start()
	t.Cleanup(func() {
		p.Stop(context.WithoutCancel(t.Context()))
		cancel()
		<-heard
	})
	return p
}

// beats says when the process was heard last.
func (p *process) beats(t testing.TB, when string) {
	t.Helper()
	_, err := p.Pool.Exec(t.Context(), "update instances set beat_at = now() "+when+" where id = $1", p.instance)
	must(t, err)
}

// to makes a connector for a server, and syncs it.
func (p *process) to(t testing.TB, url string, opts ...func(*connectors.Draft)) connectors.Connector {
	t.Helper()
	c := p.Connector(t, append([]func(*connectors.Draft){func(d *connectors.Draft) { d.URL, d.RetryAttempts = url, 0 }}, opts...)...)
	return p.synced(t, c)
}

func (p *process) synced(t testing.TB, c connectors.Connector) connectors.Connector {
	t.Helper()
	_, err := p.syncer.Sync(t.Context(), p.Tenant, toolsync.Request{Connector: connectors.Ref(c.Slug), Trigger: connectors.TriggerManual})
	must(t, err)
	c, err = p.Door().Connector(t.Context(), connectors.Ref(c.Slug))
	must(t, err)
	return c
}

// queued waits for a run that waits, performs it, and returns it.
func (p *process) queued(t testing.TB, c connectors.Connector) connectors.SyncRun {
	t.Helper()
	var id connectors.SyncRunID
	within(t, "a sync is queued", func() bool {
		runs, err := p.Door().SyncRuns(t.Context(), c.ID, store.Page{Limit: 1})
		must(t, err)
		id = runs.Items[0].ID
		return runs.Items[0].State == connectors.SyncQueued
	})
	report, err := p.syncer.Sync(t.Context(), p.Tenant, toolsync.Request{Connector: connectors.Ref(c.Slug), Run: &id})
	must(t, err)
	return report.Run
}

// token stores a connector's shared credential.
func (p *process) token(t testing.TB, c connectors.Connector, text secret.Text) {
	t.Helper()
	encoded, err := connectors.Secret{Token: text}.Encode()
	must(t, err)
	p.Credential(t, c.ID, nil, encoded)
}

func (p *process) listening(t testing.TB, c connectors.Connector) connectors.Listening {
	t.Helper()
	all, err := p.Door().Listenings(t.Context(), c.ID)
	must(t, err)
	return all[c.ID]
}

// becomes waits until a connector's stream is in a state, for a reason.
func (p *process) becomes(t testing.TB, c connectors.Connector, state connectors.ListenState, reason connectors.ListenReason) {
	t.Helper()
	within(t, string(state)+" "+string(reason), func() bool {
		l := p.listening(t, c)
		return l.State == state && l.Reason == reason
	})
}

// upstream is a server of the SDK that counts the streams on which it speaks by itself.
type upstream struct {
	*sdk.Server
	url     string
	streams atomic.Int32
	most    atomic.Int32                  // of them at once
	opened  atomic.Int32                  // of them, ever
	busy    atomic.Bool                   // it answers nobody, and has forgotten who was there
	cut     func()                        // ends all that is open
	queue   atomic.Pointer[chan struct{}] // who asks for a stream waits until it is closed; nil: nobody waits
}

func serve(t testing.TB, stateless bool) *upstream {
	t.Helper()
	u := &upstream{Server: sdk.NewServer(&sdk.Implementation{Name: "peer", Version: "v1"}, nil)}
	u.offer("first")
	handler := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return u.Server }, &sdk.StreamableHTTPOptions{Stateless: stateless})
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if u.busy.Load() {
			w.WriteHeader(map[bool]int{true: http.StatusNotFound, false: http.StatusServiceUnavailable}[r.Header.Get("Mcp-Session-Id") != ""])
			return
		}
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		if r.Method == http.MethodGet || strings.Contains(string(body), "subscriptions/listen") {
			u.opened.Add(1)
			n := u.streams.Add(1)
			defer u.streams.Add(-1)
			if queue := u.queue.Load(); queue != nil {
				select {
				case <-*queue:
				case <-r.Context().Done():
				}
			}
			for most := u.most.Load(); n > most; most = u.most.Load() {
				u.most.CompareAndSwap(most, n)
			}
		}
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		front.CloseClientConnections()
		front.Close()
	})
	u.url, u.cut = front.URL, front.CloseClientConnections
	return u
}

// offer adds a tool, which the server tells everybody.
func (u *upstream) offer(tool string) {
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
