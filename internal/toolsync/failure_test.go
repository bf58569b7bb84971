package toolsync_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/mcp/mcptest"
	"patchbay/internal/safehttp"
	"patchbay/internal/store"
	"patchbay/internal/testing/egressproxy"
	"patchbay/internal/toolsync"
)

const remoteText = "remote-text-for-admins-alone"

// failures are failing servers, each with the expected code and sentence.
var failures = map[string]struct {
	on       map[string]mcptest.Handler
	version  string
	code     string
	status   int
	rpc      int
	phase    string
	sentence string
	said     string // what admins may read of the server's text
}{
	"hangs": {
		on:   map[string]mcptest.Handler{"tools/list": mcptest.Hang},
		code: "timeout", phase: "list",
		sentence: "The server didn't answer within 5 seconds. Try again, or increase the connector's timeout.",
	},
	"status 500": {
		on:   map[string]mcptest.Handler{"initialize": mcptest.Status(500, remoteText)},
		code: "http_status", status: 500, phase: "initialize",
		sentence: "The server answered with HTTP 500, a problem on its side. Try again later.",
		said:     remoteText,
	},
	"status 404": {
		on:   map[string]mcptest.Handler{"initialize": mcptest.Status(404, remoteText)},
		code: "http_status", status: 404, phase: "initialize",
		sentence: "The server answered with HTTP 404. Check that the URL is its MCP endpoint.",
		said:     remoteText,
	},
	"asks to wait": {
		on:   map[string]mcptest.Handler{"initialize": mcptest.Status(429, remoteText, "Retry-After", "90")},
		code: "http_status", status: 429, phase: "initialize",
		sentence: "The server asked Patchbay to wait (429). Try again in 90 seconds.",
		said:     remoteText,
	},
	"HTML": {
		on:   map[string]mcptest.Handler{"initialize": mcptest.Answer("text/html", func(mcptest.Call) string { return "<!doctype html><p>" + remoteText })},
		code: "protocol", status: 200, phase: "initialize",
		sentence: "The server answered with HTML. Check that the URL is its MCP endpoint.",
		said:     "<!doctype html><p>" + remoteText,
	},
	"garbage": {
		on:   map[string]mcptest.Handler{"tools/list": mcptest.Answer("application/json", func(mcptest.Call) string { return "\x00\x01" + remoteText })},
		code: "protocol", status: 200, phase: "list",
		sentence: "The server answered with non-JSON. Check that the URL is its MCP endpoint.",
		said:     `\u0000\u0001` + remoteText,
	},
	"huge": {
		on: map[string]mcptest.Handler{"tools/list": mcptest.Answer("application/json", func(c mcptest.Call) string {
			return mcptest.Result(c, `{"tools":["`+strings.Repeat("x", 9<<20)+`"]}`)
		})},
		code: "too_large", phase: "list",
		sentence: "The server sent over 8 MiB. Ask its operator for a smaller list.",
	},
	"a JSON-RPC error": {
		on: map[string]mcptest.Handler{"tools/list": mcptest.Answer("application/json", func(c mcptest.Call) string {
			return mcptest.Failure(c, -32603, remoteText)
		})},
		code: "rpc", status: 200, rpc: -32603, phase: "list",
		sentence: "The server refused to list its tools with JSON-RPC error -32603. Its log may say why.",
		said:     remoteText,
	},
	"an unknown version": {
		version: "1999-01-01",
		code:    "unsupported_version", phase: "initialize",
		sentence: "The server speaks an unsupported MCP version: we offered MCP 2025-11-25, the server chose 1999-01-01. Update it or Patchbay.",
	},
	"a redirect": {
		on:   map[string]mcptest.Handler{"initialize": mcptest.Status(307, "", "Location", "https://elsewhere.example.com/mcp?"+remoteText)},
		code: "redirect", phase: "initialize",
		sentence: "The server redirects to https://elsewhere.example.com. If that is right, update the connector's URL.",
	},
	"no credential": {
		on:   map[string]mcptest.Handler{"initialize": mcptest.Status(401, remoteText)},
		code: "unauthorized", status: 401, phase: "initialize",
		sentence: "The server needs a credential (401). Choose an authentication in the connector's settings.",
		said:     remoteText,
	},
}

func TestSync_FailureIsOneSentenceAndKeepsTools(t *testing.T) {
	t.Parallel()
	for name, tc := range failures {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBundle(t)
			good := newUpstream(t, mcptest.Script{Tools: mcptest.Tools(3)})
			c := b.addConnector(t, good.URL)
			b.mustSync(t, c)
			bad := newUpstream(t, mcptest.Script{Tools: mcptest.Tools(3), On: tc.on, Version: tc.version})
			b.moveConnector(t, c, bad.URL, func(d *connectors.Draft) {
				if tc.code == "timeout" {
					d.Timeout = 5 * time.Second
				}
			})

			began := time.Now()
			_, err := b.run(t, c)

			if took := time.Since(began); took > patience { // shorter than any Retry-After
				t.Errorf("took %s", took)
			}
			f := wantFault(t, err, fault.Upstream, tc.code)
			if f.Message != tc.sentence {
				t.Errorf("sentence:\n%s\nwant:\n%s", f.Message, tc.sentence)
			}
			if f.Remote == nil || f.Remote.Phase != tc.phase || f.Remote.HTTPStatus != tc.status && tc.status != 0 || f.Remote.RPCCode != tc.rpc {
				t.Errorf("remote = %+v", f.Remote)
			}
			if strings.Contains(err.Error(), remoteText) {
				t.Errorf("the error repeats the server: %v", err)
			}
			if f.Remote.Said != tc.said {
				t.Errorf("the server said %q, want %q", f.Remote.Said, tc.said)
			}
			run, now := b.lastRun(t, c), b.reload(t, c)
			if diff := cmp.Diff(connectors.UpstreamOf(f.Remote), run.Upstream); diff != "" {
				t.Errorf("stored: %s", diff)
			}
			if run.State != connectors.SyncFailed || run.ErrorCode != tc.code || run.ErrorMessage != tc.sentence {
				t.Errorf("run = %+v", run)
			}
			if now.LastError == nil || now.LastError.Code != tc.code || now.ToolCount != 3 || len(now.DiscoveredTools) != 3 {
				t.Errorf("connector = %+v", now)
			}

			b.moveConnector(t, c, good.URL, func(d *connectors.Draft) { d.Timeout = patience })
			b.mustSync(t, c)
			if now := b.reload(t, c); now.LastError != nil || now.Status != connectors.StatusOK {
				t.Errorf("after a success: %s, %+v", now.Status, now.LastError)
			}
		})
	}
}

func (b *bundle) moveConnector(t testing.TB, c connectors.Connector, url string, opts ...func(*connectors.Draft)) {
	t.Helper()
	now := b.reload(t, c)
	d := connectors.DraftOf(now)
	d.URL = url
	for _, opt := range opts {
		opt(&d)
	}
	if _, err := b.Door().Connectors().Update(t.Context(), c.ID, now.Version, d); err != nil {
		t.Fatal(err)
	}
}

func TestSync_DeadServerIsUnreachable(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	up := newUpstream(t, mcptest.Script{})
	c := b.addConnector(t, up.URL)
	up.Stop()
	_, err := b.run(t, c)
	_ = wantFault(t, err, fault.Upstream, "unreachable")
}

func TestSync_ReportsAnUntrustedCertificate(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	up := httptest.NewUnstartedServer(http.NotFoundHandler())
	up.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError) // of the refused handshake
	up.StartTLS()
	t.Cleanup(up.Close)
	_, err := b.run(t, b.addConnector(t, up.URL))
	f := wantFault(t, err, fault.Upstream, "tls")
	want := "TLS to the server failed: its certificate authority is unknown. Check the URL and the server's certificate."
	if f.Message != want {
		t.Errorf("sentence:\n%s\nwant:\n%s", f.Message, want)
	}
}

func TestSync_AppliesEgressRulesToEachConnection(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	c := b.addConnector(t, "http://169.254.169.254/mcp")
	_, err := b.run(t, c)
	if f := wantFault(t, err, fault.Upstream, "blocked"); f.Remote.Phase != "connect" || f.Message == "" {
		t.Errorf("fault = %+v, %+v", f, f.Remote)
	}
	if run := b.lastRun(t, c); run.ErrorCode != "blocked" {
		t.Errorf("run = %+v", run)
	}
}

func TestSync_RefusesADisabledConnector(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	up := newUpstream(t, mcptest.Script{})
	c := b.addConnector(t, up.URL, func(d *connectors.Draft) { d.Enabled = false })
	_, err := b.run(t, c)
	_ = wantFault(t, err, fault.Conflict, "disabled")
	if _, err := b.sync.Queue(t.Context(), b.Tenant, toolsync.Request{Connector: connectors.Ref(c.Slug), Trigger: connectors.TriggerAPI}); !fault.Is(err, fault.Conflict) {
		t.Errorf("queue: %v", err)
	}
	if calls := up.Calls(); len(calls) != 0 {
		t.Errorf("the server was called: %v", calls)
	}
}

func TestSync_ConnectorOfAnotherTenantIsNotFound(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	up := newUpstream(t, mcptest.Script{})
	c := b.addConnector(t, up.URL)
	_, err := b.sync.Sync(t.Context(), b.Other, toolsync.Request{Connector: connectors.Ref(c.ID.String()), Trigger: connectors.TriggerAPI})
	_ = wantFault(t, err, fault.NotFound, "")
	if calls := up.Calls(); len(calls) != 0 {
		t.Errorf("the server was called: %v", calls)
	}
}

// newBlockedServer is a server that answers tools/list after release.
func newBlockedServer(t testing.TB) (url string, listing <-chan struct{}, release func()) {
	t.Helper()
	arrived, gate := make(chan struct{}, 8), make(chan struct{})
	up := newUpstream(t, mcptest.Script{On: map[string]mcptest.Handler{"tools/list": func(w http.ResponseWriter, r *http.Request, c mcptest.Call) {
		arrived <- struct{}{}
		select {
		case <-gate:
		case <-r.Context().Done():
		}
		mcptest.ListResult(mcptest.Tool("a"))(w, r, c)
	}}})
	return up.URL, arrived, func() { close(gate) }
}

func TestSync_SecondIsAConflict(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	url, listing, release := newBlockedServer(t)
	c := b.addConnector(t, url)
	first := make(chan error, 1)
	go func() {
		_, err := b.run(t, c)
		first <- err
	}()
	<-listing

	_, err := b.run(t, c)
	if f := wantFault(t, err, fault.Conflict, ""); f.Type != store.TypeSyncRunning {
		t.Errorf("type = %q", f.Type)
	}
	if now := b.reload(t, c); now.Running == nil {
		t.Error("the connector does not show its run")
	}

	release()
	if err := <-first; err != nil {
		t.Fatal(err)
	}
	b.mustSync(t, c)
}

func TestSync_OutlivesItsCaller(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	url, listing, release := newBlockedServer(t)
	c := b.addConnector(t, url)
	ctx, leave := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := b.sync.Sync(ctx, b.Tenant, toolsync.Request{Connector: connectors.Ref(c.Slug), Trigger: connectors.TriggerManual})
		done <- err
	}()
	<-listing
	leave()
	release()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if run := b.lastRun(t, c); run.State != connectors.SyncOK {
		t.Errorf("run = %+v", run)
	}
}

func TestSync_RunOfADeadProcessBlocksNoLaterOne(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	c := b.addConnector(t, newUpstream(t, mcptest.Script{Tools: mcptest.Tools(2)}).URL)
	// A process without a heartbeat owns the run.
	start := b.Start(c.ID)
	start.Instance = connectors.InstanceID{UUID: c.ID.UUID}
	orphan, err := b.Door().Syncs().Start(t.Context(), start)
	if err != nil {
		t.Fatal(err)
	}

	b.mustSync(t, c)

	closed, err := b.Door().Syncs().Get(t.Context(), orphan.ID)
	if err != nil {
		t.Fatal(err)
	}
	if closed.State != connectors.SyncFailed || closed.ErrorCode != "interrupted" {
		t.Errorf("orphan = %+v", closed)
	}
}

func TestStop_InterruptsRuns(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	url, listing, release := newBlockedServer(t)
	defer release()
	c := b.addConnector(t, url)
	done := make(chan error, 1)
	go func() {
		_, err := b.run(t, c)
		done <- err
	}()
	<-listing
	over, cancel := context.WithCancel(t.Context())
	cancel()

	b.sync.Stop(over)

	_ = wantFault(t, <-done, fault.Unavailable, "interrupted")
	if run := b.lastRun(t, c); run.State != connectors.SyncFailed || run.ErrorCode != "interrupted" {
		t.Errorf("run = %+v", run)
	}
	_, err := b.run(t, c)
	_ = wantFault(t, err, fault.Unavailable, toolsync.CodeStopping)
}

type explodingTransport struct{}

func (explodingTransport) RoundTrip(*http.Request) (*http.Response, error) {
	panic(errors.New("a bug"))
}

func TestSync_PanicClosesTheRun(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.sync = toolsync.New(toolsync.Options{
		Store: b.St, Credentials: b.credentials(), Instance: b.Instance,
		Egress: safehttp.New(safehttp.Options{Mode: safehttp.Local}),
		HTTP:   &http.Client{Transport: explodingTransport{}},
	})
	c := b.addConnector(t, "http://127.0.0.1:1/mcp")
	_, err := b.run(t, c)
	if f := wantFault(t, err, fault.Internal, ""); strings.Contains(f.Message, "bug") {
		t.Errorf("message = %q", f.Message)
	}
	run := b.lastRun(t, c)
	if diff := cmp.Diff(connectors.SyncFailed, run.State); diff != "" || run.ErrorCode != "internal" {
		t.Errorf("run = %+v", run)
	}
}

func TestSync_ProxyFailureIsNotTheServers(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]string{
		http.StatusProxyAuthRequired: "The egress proxy refused Patchbay's credentials (407). Ask the operator to check PATCHBAY_EGRESS_PROXY.",
		http.StatusForbidden:         "The egress proxy blocks 8.8.8.8 (403). The proxy's operator can allow it.",
	} {
		b := newBundle(t)
		b.sync = newUnstartedSyncer(t, b.World, b.Instance, func(o *toolsync.Options) {
			o.Egress = safehttp.New(safehttp.Options{Mode: safehttp.Public, Proxy: egressproxy.Refusing(t, status)})
		})
		c := b.addConnector(t, "https://8.8.8.8/mcp")
		_, err := b.run(t, c)
		f := wantFault(t, err, fault.Upstream, "egress_proxy")
		if f.Message != want || f.Remote.Phase != "connect" || f.Remote.Retryable != (status == http.StatusProxyAuthRequired) {
			t.Errorf("%d: %q, %+v", status, f.Message, f.Remote)
		}
		if run := b.lastRun(t, c); run.ErrorCode != "egress_proxy" {
			t.Errorf("run = %+v", run)
		}
		rep, err := b.sync.Probe(t.Context(), b.Tenant, nil, draftTo("https://8.8.8.8/mcp"), connectors.Secret{})
		if err != nil || rep.OK || rep.Error == nil || rep.Error.Code != "egress_proxy" {
			t.Errorf("probe = %+v, %v", rep, err)
		}
	}
}
