package toolsync_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"patchbay/internal/connectors"
	"patchbay/internal/credentials"
	"patchbay/internal/fault"
	"patchbay/internal/mcp/mcptest"
)

func TestReadTool_ReturnsTheHashAndStoresNothing(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	up := newUpstream(t, mcptest.Script{Tools: []string{mcptest.Tool("a"), mcptest.Tool("b")}, Bearer: "s3cret"})
	c := b.addConnector(t, up.URL, perAgent)
	agent, other, refused := b.Agent(t), b.Agent(t), b.Agent(t)
	b.storeToken(t, c, &agent.ID, "s3cret")
	b.storeToken(t, c, &refused.ID, "revoked")
	rows := b.Rows(t)
	hash, err := b.sync.ReadTool(t.Context(), b.Tenant, c.ID, credentials.Account{Agent: &agent.ID}, connectors.CredentialID{}, "b")
	must(t, err)
	if want := connectors.HashDefinition([]byte(mcptest.Tool("b"))); hash != want {
		t.Errorf("hash %s, want %s", hash, want)
	}
	for name, tc := range map[string]struct {
		tenant connectors.TenantID
		agent  connectors.Agent
		tool   string
		kind   fault.Kind
	}{
		"a tool that is not listed":   {b.Tenant, agent, "c", fault.NotFound},
		"an agent without an account": {b.Tenant, other, "b", fault.Conflict},
		"a refused account":           {b.Tenant, refused, "b", fault.Upstream},
		"another tenant":              {b.Other, agent, "b", fault.NotFound},
	} {
		if hash, err := b.sync.ReadTool(t.Context(), tc.tenant, c.ID, credentials.Account{Agent: &tc.agent.ID}, connectors.CredentialID{}, tc.tool); !fault.Is(err, tc.kind) || hash != (connectors.Hash{}) {
			t.Errorf("%s: %s, %v", name, hash, err)
		}
	}
	account := credentials.Account{Agent: &agent.ID}
	if _, err := b.sync.ReadTool(t.Context(), b.Tenant, c.ID, account, connectors.CredentialID{UUID: uuid.New()}, "b"); !fault.Is(err, fault.Conflict) {
		t.Errorf("another account has the name: %v", err)
	}
	if b.Rows(t) != rows {
		t.Error("it stored something")
	}
	wantSent(t, up, "Bearer s3cret", "Bearer s3cret")
}

// Many agents' calls at once open few sessions at a server. The others wait as long as their calls do.
func TestReadTool_HasABoundForEachServer(t *testing.T) {
	t.Parallel()
	const most = 4
	b := newBundle(t)
	listing, release := make(chan struct{}, 2*most), make(chan struct{})
	up := newUpstream(t, mcptest.Script{On: map[string]mcptest.Handler{"tools/list": func(w http.ResponseWriter, r *http.Request, c mcptest.Call) {
		listing <- struct{}{}
		select {
		case <-release:
		case <-r.Context().Done():
		}
		mcptest.ListResult(mcptest.Tool("a"))(w, r, c)
	}}})
	c := b.addConnector(t, up.URL, perAgent)
	done := make(chan error, most)
	agent := b.Agent(t)
	b.storeToken(t, c, &agent.ID, "s3cret")
	read := func(ctx context.Context) error {
		_, err := b.sync.ReadTool(ctx, b.Tenant, c.ID, credentials.Account{Agent: &agent.ID}, connectors.CredentialID{}, "a")
		return err
	}
	for range most {
		go func() { done <- read(t.Context()) }()
	}
	for range most {
		receiveSoon(t, listing, "a list is read")
	}
	late, leave := context.WithTimeout(t.Context(), time.Second)
	defer leave()
	if err := read(late); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a call beyond the bound: %v", err)
	}
	if n := len(slices.DeleteFunc(up.Methods(), func(m string) bool { return m != "tools/list" })); n != most {
		t.Errorf("%d lists are read", n)
	}
	close(release)
	for range most {
		must(t, receiveSoon(t, done, "a read ends"))
	}
	must(t, read(t.Context()))
}

func receiveSoon[T any](t *testing.T, c <-chan T, what string) (value T) {
	t.Helper()
	select {
	case value = <-c:
	case <-time.After(patience):
		t.Fatalf("waited %s until %s", patience, what)
	}
	return value
}
