package toolsync

import (
	"context"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/safe"
	"patchbay/internal/store"
)

// How long a whole run may take beyond timeout × (1 + retries): together the 60 s of the public contract.
const (
	talkSlack = 50 * time.Second
	saveTime  = 10 * time.Second
)

// MaxDuration is the longest that any connector's run takes.
const MaxDuration = connectors.MaxTimeout*(1+connectors.MaxRetries) + talkSlack + saveTime

// Sync performs one run. It ends when the run has ended, also where ctx ends before: a closed browser does not cut a run
// off. Where the server failed us, the error is an Upstream fault; what was known of its tools stays. Where another run is
// under way, or the queued one was taken by somebody else, it is a Conflict as [store.Tenant.StartSync] says.
func (s *Syncer) Sync(ctx context.Context, tenant connectors.TenantID, req Request) (Report, error) {
	ctx, end, err := s.begin(ctx)
	if err != nil {
		return Report{}, err
	}
	defer end()
	ctx, span := s.beginSpan(ctx, tenant, req.Trigger)
	report, err := s.sync(ctx, tenant, req)
	endSpan(span, report.Run.ID, report.Run.Counts.Total, err)
	return report, err
}

func (s *Syncer) sync(ctx context.Context, tenant connectors.TenantID, req Request) (Report, error) {
	c, start, err := s.load(ctx, tenant, req)
	if err != nil {
		return Report{}, err
	}
	describeSync(ctx, c)
	if !c.Enabled {
		return Report{}, s.refuse(ctx, tenant, c, req.Run)
	}
	started, err := s.store.Tenant(tenant).StartSync(ctx, start)
	if err != nil {
		return Report{}, err
	}
	r := &run{Syncer: s, tenant: tenant, connector: c, id: started.ID, agent: started.AgentID}
	done, err := r.perform(ctx)
	if done.FinishedAt != nil {
		s.finished(done)
	}
	return Report{Run: done, Connector: c}, err
}

// begin detaches a run from its caller, and binds it to this process's life. Stop waits for the end.
func (s *Syncer) begin(ctx context.Context) (detached context.Context, end func(), err error) {
	if !s.heart.enter() {
		f := fault.Errorf(fault.Unavailable, "Patchbay is stopping. Try again in a moment.")
		f.Code = CodeStopping
		return nil, nil, f
	}
	detached, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	unbind := context.AfterFunc(s.heart.cutOff, func() {
		defer safe.Recover(safe.Timer)
		cancel(errStopped)
	})
	return detached, func() {
		unbind()
		cancel(nil)
		s.heart.leave()
	}, nil
}

// load reads what a run is about.
func (s *Syncer) load(ctx context.Context, tenant connectors.TenantID, req Request) (connectors.Connector, store.StartSync, error) {
	st := s.store.Tenant(tenant)
	c, err := st.Connector(ctx, req.Connector)
	if err != nil {
		return c, store.StartSync{}, err
	}
	agent, err := agentID(ctx, st, req.Agent)
	return c, store.StartSync{
		NewRun:   store.NewRun{ConnectorID: c.ID, AgentID: agent, Trigger: req.Trigger, Asked: req.asked(c)},
		Run:      req.Run,
		Instance: s.instance,
	}, err
}

func agentID(ctx context.Context, st *store.Tenant, ref *connectors.Ref) (*connectors.AgentID, error) {
	if ref == nil {
		return nil, nil
	}
	agent, err := st.Agent(ctx, *ref)
	if err != nil {
		return nil, err
	}
	return &agent.ID, nil
}

// refuse ends the sync of a disabled connector before it begins, with its queued run.
func (s *Syncer) refuse(ctx context.Context, tenant connectors.TenantID, c connectors.Connector, queued *connectors.SyncRunID) error {
	refused := disabled(c)
	if queued != nil {
		s.close(ctx, tenant, *queued, refused, store.Seen{})
	}
	return refused
}

func disabled(c connectors.Connector) *fault.Error {
	f := fault.Errorf(fault.Conflict, "The connector %q is disabled. Enable it to sync its tools.", c.Name)
	f.Code = codeDisabled
	return f
}
