package toolsync_test

import (
	"testing"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/credentials"
	"patchbay/internal/fault"
	"patchbay/internal/mcp/mcptest"
	"patchbay/internal/safehttp"
	"patchbay/internal/secret"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
	"patchbay/internal/toolsync"
)

// bundle is a world with a syncer.
type bundle struct {
	*fixture.World
	sync *toolsync.Syncer
}

// newBundle returns a world and its syncer, by default with a resolver that gets no tokens. The syncer sends no
// heartbeats, so that all queries are the test's own; the world's instance is alive anyway.
func newBundle(t testing.TB, resolver ...func(*bundle) *credentials.Resolver) *bundle {
	t.Helper()
	b := &bundle{World: fixture.New(t)}
	var opts []func(*toolsync.Options)
	for _, r := range resolver {
		opts = append(opts, func(o *toolsync.Options) { o.Credentials = r(b) })
	}
	b.sync = newUnstartedSyncer(t, b.World, b.Instance, opts...)
	return b
}

func newSyncer(t testing.TB, w *fixture.World, instance connectors.InstanceID, opts ...func(*toolsync.Options)) *toolsync.Syncer {
	t.Helper()
	s := newUnstartedSyncer(t, w, instance, opts...)
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s
}

// newUnstartedSyncer is a syncer without heartbeats.
func newUnstartedSyncer(t testing.TB, w *fixture.World, instance connectors.InstanceID, opts ...func(*toolsync.Options)) *toolsync.Syncer {
	t.Helper()
	o := toolsync.Options{
		Store:       w.St,
		Credentials: credentials.New(w.St),
		Egress:      safehttp.New(safehttp.Options{Mode: safehttp.Local}),
		Version:     "test",
		Instance:    instance,
	}
	for _, opt := range opts {
		opt(&o)
	}
	s := toolsync.New(o)
	t.Cleanup(func() { s.Stop(t.Context()) })
	return s
}

// patience bounds the wait for a server that answers at once: other packages' tests may load both cores.
const patience = time.Minute

// addConnector creates a connector to url without retries.
func (b *bundle) addConnector(t testing.TB, url string, opts ...func(*connectors.Draft)) connectors.Connector {
	t.Helper()
	return b.Connector(t, append([]func(*connectors.Draft){func(d *connectors.Draft) {
		d.URL, d.RetryAttempts, d.Timeout = url, 0, patience
	}}, opts...)...)
}

func bearer(d *connectors.Draft)      { d.Auth.Type = connectors.AuthBearer }
func perAgent(d *connectors.Draft)    { bearer(d); d.CredentialMode = connectors.CredentialPerAgent }
func autoChanges(d *connectors.Draft) { d.ToolChanges = connectors.ToolChangesAuto }

func (b *bundle) storeToken(t testing.TB, c connectors.Connector, agent *connectors.AgentID, storeToken secret.Text) {
	t.Helper()
	sealed, err := connectors.Secret{Token: storeToken}.Encode()
	if err != nil {
		t.Fatal(err)
	}
	b.Credential(t, c.ID, agent, sealed)
}

func (b *bundle) run(t testing.TB, c connectors.Connector) (connectors.SyncRun, error) {
	t.Helper()
	return b.runAs(t, c, nil)
}

func (b *bundle) runAs(t testing.TB, c connectors.Connector, agent *connectors.Agent) (connectors.SyncRun, error) {
	t.Helper()
	req := toolsync.Request{Connector: connectors.Ref(c.Slug), Trigger: connectors.TriggerManual}
	if agent != nil {
		ref := connectors.Ref(agent.Slug)
		req.Agent = &ref
	}
	rep, err := b.sync.Sync(t.Context(), b.Tenant, req)
	return rep.Run, err
}

func (b *bundle) mustSync(t testing.TB, c connectors.Connector) connectors.SyncRun {
	t.Helper()
	run, err := b.run(t, c)
	if err != nil {
		t.Fatalf("sync: %v", err)
	}
	return run
}

func (b *bundle) reload(t testing.TB, c connectors.Connector) connectors.Connector {
	t.Helper()
	c, err := b.Door().Connectors().Get(t.Context(), connectors.Ref(c.ID.String()))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// tools are the connector's tools by name, with removed ones.
func (b *bundle) tools(t testing.TB, c connectors.Connector) map[string]connectors.Tool {
	t.Helper()
	list, err := b.Door().Tools().List(t.Context(), store.ToolFilter{Connector: &c.ID, Removed: true, Page: store.Page{Limit: 200}})
	if err != nil {
		t.Fatal(err)
	}
	byName := map[string]connectors.Tool{}
	for _, tool := range list.Items {
		byName[tool.Name] = tool
	}
	return byName
}

// lastRun is the connector's newest run.
func (b *bundle) lastRun(t testing.TB, c connectors.Connector) connectors.SyncRun {
	t.Helper()
	list, err := b.Door().Syncs().List(t.Context(), c.ID, store.Page{Limit: 1})
	if err != nil || len(list.Items) == 0 {
		t.Fatalf("no run: %v", err)
	}
	return list.Items[0]
}

// wantFault checks kind and code of an error.
func wantFault(t testing.TB, err error, kind fault.Kind, code string) *fault.Error {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want %s %q", kind, code)
	}
	f := fault.As(err)
	if f.Kind != kind || f.Code != code {
		t.Fatalf("error is %s %q (%v), want %s %q", f.Kind, f.Code, err, kind, code)
	}
	return f
}

func newUpstream(t testing.TB, s mcptest.Script) *mcptest.Server {
	t.Helper()
	return mcptest.Start(t, s)
}

func storePage() store.Page { return store.Page{} }
