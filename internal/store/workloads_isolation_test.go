package store_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
)

// workloadOf is the victim's workload, with an access token for a JWT.
type workloadOf struct {
	workload connectors.Workload
	use      store.AssertionUse
}

// ownWorkloads are the methods that an outsider calls with success: on what is its own.
var ownWorkloads = map[string]bool{
	"Workloads.List": true, "Workloads.Count": true, "Workloads.UseAssertion": true, "Workloads.RefuseAssertion": true, "Workloads.DropToken": true,
	"Workloads.UseProof": true,
}

// workloadAttempts are the outsider's at workloads.
var workloadAttempts = map[string]attempt{
	"Workloads.Create": func(ctx context.Context, o outsider) (bool, error) {
		return one(o.door.Workloads().Create(ctx, newWorkload(o.agent.ID)))
	},
	"Workloads.List": func(ctx context.Context, o outsider) (bool, error) {
		list, err := o.door.Workloads().List(ctx, o.agent.ID)
		return len(list) > 0, err
	},
	"Workloads.Count": func(ctx context.Context, o outsider) (bool, error) {
		n, err := o.door.Workloads().Count(ctx, o.agent.ID)
		return n > 0, err
	},
	"Workloads.Delete": func(ctx context.Context, o outsider) (bool, error) {
		return one(o.door.Workloads().Delete(ctx, o.agent.ID, o.workload.ID))
	},
	"Workloads.Lock": func(ctx context.Context, o outsider) (bool, error) {
		return one(o.door.Workloads().Lock(ctx, o.workload.ID))
	},
	"Workloads.UseAssertion": func(ctx context.Context, o outsider) (bool, error) {
		earlier, err := o.door.Workloads().UseAssertion(ctx, o.use) // each tenant counts for itself
		return earlier != nil, err
	},
	"Workloads.UseProof": func(ctx context.Context, o outsider) (bool, error) {
		first, err := o.door.Workloads().UseProof(ctx, o.use.Digest, o.use.ExpiresAt) // each tenant counts for itself
		return !first, err
	},
	"Workloads.BindClient": func(ctx context.Context, o outsider) (bool, error) {
		return true, o.door.Workloads().BindClient(ctx, o.acting, strings.Repeat("k", 43))
	},
	"Workloads.ReplaceAssertionToken": func(ctx context.Context, o outsider) (bool, error) {
		u := o.use
		u.Digest = make([]byte, 32) // one that the outsider has not used
		return true, o.door.Workloads().ReplaceAssertionToken(ctx, u, store.NewAgentTokenID())
	},
	"Workloads.RefuseAssertion": func(ctx context.Context, o outsider) (bool, error) {
		if _, err := o.door.Workloads().RefuseAssertion(ctx, o.use); err != nil {
			return true, err
		}
		var refused bool
		o.AsSystem(o.t, "select refused_at is not null from used_assertions where tenant_id = $1", []any{o.Tenant.UUID}, &refused)
		return refused, nil
	},
	"Workloads.CreateToken": func(ctx context.Context, o outsider) (bool, error) {
		return true, o.door.Workloads().CreateToken(ctx, o.workload.ID, newWorkloadToken(store.NewAgentTokenID()), "/mcp")
	},
	"Workloads.DropToken": func(ctx context.Context, o outsider) (bool, error) {
		if err := o.door.Workloads().DropToken(ctx, o.workload.ID, o.use.Token); err != nil {
			return true, err
		}
		_, err := o.St.System().Sessions().AgentToken(ctx, o.use.Token)
		return err != nil, err
	},
}

func newWorkload(agent connectors.AgentID) connectors.Workload {
	return connectors.Workload{AgentID: agent, Name: "deploy", Issuer: "https://issuer.example.com", Subject: "job"}
}

func newWorkloadToken(id connectors.AgentTokenID) store.ClientToken {
	return store.ClientToken{ID: id, Prefix: "pb", SecretMAC: []byte("theirs"), ExpiresAt: time.Now().Add(time.Hour)}
}

func (o *outsider) fillWorkloads(t *testing.T) {
	t.Helper()
	var err error
	if o.workload, err = o.Door().Workloads().Create(t.Context(), newWorkload(o.agent.ID)); err != nil {
		t.Fatal(err)
	}
	digest := make([]byte, 32)
	digest[0] = 1
	o.use = store.AssertionUse{
		Digest: digest, Hash: digest, Workload: o.workload.ID, Token: store.NewAgentTokenID(), At: time.Now(), ExpiresAt: time.Now().Add(time.Minute),
	}
	earlier, err := o.Door().Workloads().UseAssertion(t.Context(), o.use)
	if err != nil || earlier != nil {
		t.Fatal(earlier, err)
	}
	if first, err := o.Door().Workloads().UseProof(t.Context(), digest, o.use.ExpiresAt); err != nil || !first {
		t.Fatal(first, err)
	}
	if err := o.Door().Workloads().CreateToken(t.Context(), o.workload.ID, newWorkloadToken(o.use.Token), "/mcp"); err != nil {
		t.Fatal(err)
	}
}

func TestWorkloads_KeepTheirNewestTokens(t *testing.T) {
	t.Parallel()
	o := newOutsider(t)
	first := o.use.Token
	o.AsSystem(t, `insert into agent_tokens (tenant_id, id, agent_id, prefix, secret_mac, expires_at, agent_workload_id, resource)
		select tenant_id, gen_random_uuid(), agent_id, prefix, secret_mac, expires_at, agent_workload_id, resource
		from agent_tokens, generate_series(1, 499) where id = $1`, []any{first.UUID})
	o.AsSystem(t, "update agent_tokens set created_at = now() - interval '1 minute' where id = $1", []any{first.UUID})
	if err := o.Door().Workloads().CreateToken(t.Context(), o.workload.ID, newWorkloadToken(store.NewAgentTokenID()), "/mcp"); err != nil {
		t.Fatal(err)
	}
	var n int
	o.AsSystem(t, "select count(*)::int from agent_tokens where agent_workload_id = $1", []any{o.workload.ID.UUID}, &n)
	if _, err := o.St.System().Sessions().AgentToken(t.Context(), first); err == nil || n != 500 {
		t.Errorf("%d tokens, with the oldest: %v", n, err == nil)
	}
}
