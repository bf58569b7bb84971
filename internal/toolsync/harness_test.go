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

// bundle is a world with a syncer in it.
type bundle struct {
	*fixture.World
	sync *toolsync.Syncer
}

// newBundle makes a world and its syncer; a resolver of its own takes the place of one that gets no tokens. Its heart
// does not beat, for the world's process is alive for as long as any test: what the database is asked is asked by the test alone.
func newBundle(t testing.TB, resolver ...func(*bundle) *credentials.Resolver) *bundle {
	t.Helper()
	b := &bundle{World: fixture.New(t)}
	var opts []func(*toolsync.Options)
	for _, r := range resolver {
		opts = append(opts, func(o *toolsync.Options) { o.Credentials = r(b) })
	}
	b.sync = newStillSyncer(t, b.World, b.Instance, opts...)
	return b
}

// newSyncer starts the syncer of one process.
func newSyncer(t testing.TB, w *fixture.World, instance connectors.InstanceID, opts ...func(*toolsync.Options)) *toolsync.Syncer {
	t.Helper()
	s := newStillSyncer(t, w, instance, opts...)
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s
}

// newStillSyncer is a syncer whose heart does not beat.
func newStillSyncer(t testing.TB, w *fixture.World, instance connectors.InstanceID, opts ...func(*toolsync.Options)) *toolsync.Syncer {
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

// patience is how long a test waits for a server that answers at once: two cores may be busy with other packages' tests.
const patience = time.Minute

// to makes a connector to url that tries once.
func (b *bundle) to(t testing.TB, url string, opts ...func(*connectors.Draft)) connectors.Connector {
	t.Helper()
	return b.Connector(t, append([]func(*connectors.Draft){func(d *connectors.Draft) {
		d.URL, d.RetryAttempts, d.Timeout = url, 0, patience
	}}, opts...)...)
}

func bearer(d *connectors.Draft)   { d.Auth.Type = connectors.AuthBearer }
func perAgent(d *connectors.Draft) { bearer(d); d.CredentialMode = connectors.CredentialPerAgent }
func auto(d *connectors.Draft)     { d.ToolChanges = connectors.ToolChangesAuto }

// token stores a bearer token.
func (b *bundle) token(t testing.TB, c connectors.Connector, agent *connectors.AgentID, token secret.Text) {
	t.Helper()
	sealed, err := connectors.Secret{Token: token}.Encode()
	if err != nil {
		t.Fatal(err)
	}
	b.Credential(t, c.ID, agent, sealed)
}

// run syncs a connector.
func (b *bundle) run(t testing.TB, c connectors.Connector) (connectors.SyncRun, error) {
	t.Helper()
	return b.runAs(t, c, nil)
}

// runAs syncs a connector with an agent's credential.
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

// ok syncs a connector and fails the test where that fails.
func (b *bundle) ok(t testing.TB, c connectors.Connector) connectors.SyncRun {
	t.Helper()
	run, err := b.run(t, c)
	if err != nil {
		t.Fatalf("sync: %v", err)
	}
	return run
}

// now reads the connector anew.
func (b *bundle) now(t testing.TB, c connectors.Connector) connectors.Connector {
	t.Helper()
	c, err := b.Door().Connector(t.Context(), connectors.Ref(c.ID.String()))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// tools reads the connector's tools, removed ones too, by name.
func (b *bundle) tools(t testing.TB, c connectors.Connector) map[string]connectors.Tool {
	t.Helper()
	list, err := b.Door().Tools(t.Context(), store.ToolFilter{Connector: &c.ID, Removed: true, Page: store.Page{Limit: 200}})
	if err != nil {
		t.Fatal(err)
	}
	byName := map[string]connectors.Tool{}
	for _, tool := range list.Items {
		byName[tool.Name] = tool
	}
	return byName
}

// lastRun reads the connector's newest run.
func (b *bundle) lastRun(t testing.TB, c connectors.Connector) connectors.SyncRun {
	t.Helper()
	list, err := b.Door().SyncRuns(t.Context(), c.ID, store.Page{Limit: 1})
	if err != nil || len(list.Items) == 0 {
		t.Fatalf("no run: %v", err)
	}
	return list.Items[0]
}

// wantFault checks kind and code of an error, and returns it.
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

func upstream(t testing.TB, s mcptest.Script) *mcptest.Server {
	t.Helper()
	return mcptest.Start(t, s)
}

func storePage() store.Page { return store.Page{} }
