package toolsync_test

import (
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/mcp/mcptest"
	"patchbay/internal/store"
)

func draftTo(url string, opts ...func(*connectors.Draft)) connectors.Draft {
	d := connectors.NewDraft()
	d.Name, d.URL, d.RetryAttempts = "Probed", url, 0
	for _, opt := range opts {
		opt(&d)
	}
	return d
}

func TestProbe_ReportsTheServerAndStoresNothing(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	up := newUpstream(t, mcptest.Script{Tools: append(mcptest.Tools(3), `{}`), Bearer: "s3cret"})
	before := b.Queries()

	rep, err := b.sync.Probe(t.Context(), b.Tenant, nil, draftTo(up.URL, bearer), connectors.Secret{Token: " s3cret\n"})

	if err != nil || !rep.OK || rep.Error != nil {
		t.Fatalf("probe = %+v, %v", rep, err)
	}
	if rep.Server.Name != "mcptest" || len(rep.Tools) != 3 || len(rep.Quarantined) != 1 || !strings.Contains(string(rep.Capabilities), `"tools"`) {
		t.Errorf("probe = %+v", rep)
	}
	if n := b.Queries() - before; n != 0 {
		t.Errorf("the probe asked the database %d times", n)
	}
	list, err := b.Door().Connectors().List(t.Context(), store.ConnectorFilter{})
	if err != nil || len(list.Items) != 0 {
		t.Errorf("connectors = %+v, %v", list.Items, err)
	}
}

func TestProbe_ReportsServerErrors(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	up := newUpstream(t, mcptest.Script{On: map[string]mcptest.Handler{"tools/list": mcptest.Status(500, remoteText)}})

	rep, err := b.sync.Probe(t.Context(), b.Tenant, nil, draftTo(up.URL), connectors.Secret{})

	if err != nil || rep.OK || rep.Error == nil {
		t.Fatalf("probe = %+v, %v", rep, err)
	}
	want := &fault.Remote{Phase: "list", HTTPStatus: 500, Retryable: true, Said: remoteText}
	if diff := cmp.Diff(want, rep.Error.Remote); diff != "" || rep.Error.Code != "http_status" {
		t.Errorf("%s, %s", rep.Error.Code, diff)
	}
	if rep.Server.Name != "mcptest" {
		t.Errorf("server = %+v: the handshake was fine", rep.Server)
	}
}

func TestProbe_AppliesEgressRules(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	rep, err := b.sync.Probe(t.Context(), b.Tenant, nil, draftTo("http://169.254.169.254/"), connectors.Secret{})
	if err != nil || rep.OK || rep.Error == nil || rep.Error.Code != "blocked" {
		t.Errorf("probe = %+v, %v", rep, err)
	}
}

func TestProbe_RefusesAnInvalidDraft(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	_, err := b.sync.Probe(t.Context(), b.Tenant, nil, draftTo("ftp://example.com", bearer), connectors.Secret{})
	f := wantFault(t, err, fault.Invalid, "")
	var at []string
	for _, field := range f.Fields {
		at = append(at, field.Location)
	}
	if diff := cmp.Diff([]string{"url", "auth.token"}, at); diff != "" {
		t.Error(diff)
	}
}

func TestProbe_StoredSecretGoesOnlyToItsOrigin(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	up := newUpstream(t, mcptest.Script{Tools: mcptest.Tools(1), Bearer: "s3cret"})
	elsewhere := newUpstream(t, mcptest.Script{Tools: mcptest.Tools(1)})
	c := b.addConnector(t, up.URL, bearer)
	b.storeToken(t, c, nil, "s3cret")
	ref := connectors.Ref(c.Slug)

	d := connectors.DraftOf(c)
	d.Description = "changed"
	rep, err := b.sync.ProbeStored(t.Context(), b.Tenant, nil, ref, d, connectors.Secret{})
	if err != nil || !rep.OK {
		t.Errorf("same origin: %+v, %v", rep, err)
	}
	d.URL = elsewhere.URL
	if rep, err = b.sync.ProbeStored(t.Context(), b.Tenant, nil, ref, d, connectors.Secret{}); err != nil || !rep.OK {
		t.Errorf("another origin: %+v, %v", rep, err)
	}
	wantSent(t, up, "Bearer s3cret")
	wantSent(t, elsewhere, "")
	if _, err = b.sync.ProbeStored(t.Context(), b.Other, nil, ref, d, connectors.Secret{}); !fault.Is(err, fault.NotFound) {
		t.Errorf("another tenant: %v", err)
	}
}

// Each test may hold a long list for a long time: hundreds of one tenant must not exhaust the memory.
func TestProbe_LimitsProbesPerTenant(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	arrived, release := make(chan struct{}), make(chan struct{})
	up := newUpstream(t, mcptest.Script{On: map[string]mcptest.Handler{"initialize": func(w http.ResponseWriter, _ *http.Request, _ mcptest.Call) {
		arrived <- struct{}{}
		<-release
		w.WriteHeader(http.StatusTeapot)
	}}})
	var running sync.WaitGroup
	for range 4 {
		running.Go(func() { _, _ = b.sync.Probe(t.Context(), b.Tenant, nil, draftTo(up.URL), connectors.Secret{}) })
		<-arrived
	}
	_, err := b.sync.Probe(t.Context(), b.Tenant, nil, draftTo(up.URL), connectors.Secret{})
	if !fault.Is(err, fault.RateLimited) {
		t.Errorf("the fifth: %v", err)
	}
	running.Go(func() { _, _ = b.sync.Probe(t.Context(), b.Other, nil, draftTo(up.URL), connectors.Secret{}) })
	<-arrived // another tenant's test begins
	close(release)
	running.Wait()
	go func() { <-arrived }()
	if _, err := b.sync.Probe(t.Context(), b.Tenant, nil, draftTo(up.URL), connectors.Secret{}); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}
