package toolsync

import (
	"context"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/safe"
	"patchbay/internal/store"
)

// Time of a run beyond timeout × (1 + retries): together the 60 s of the public contract.
const (
	sessionSlack = 50 * time.Second
	saveTime     = 10 * time.Second
)

// MaxDuration bounds the run of any connector.
const MaxDuration = connectors.MaxTimeout*(1+connectors.MaxRetries) + sessionSlack + saveTime

// Sync performs one run to its end, even if ctx ends first: a closed browser does not interrupt it. A failure
// of the server is an Upstream fault, and the known tools stay. An active run of the connector, or a queued run
// that was claimed elsewhere, is a Conflict as [store.Syncs.Start] says.
func (s *Syncer) Sync(ctx context.Context, tenant connectors.TenantID, req Request) (Report, error) {
	ctx, end, err := s.beginRun(ctx)
	if err != nil {
		return Report{}, err
	}
	defer end()
	ctx, span := s.beginSpan(ctx, tenant, req.Trigger)
	report, err := s.syncConnector(ctx, tenant, req)
	endSpan(span, report.Run.ID, report.Run.Counts.Total, err)
	return report, err
}

func (s *Syncer) syncConnector(ctx context.Context, tenant connectors.TenantID, req Request) (Report, error) {
	c, start, err := s.loadRequest(ctx, tenant, req)
	if err != nil {
		return Report{}, err
	}
	describeSync(ctx, c)
	if !c.Enabled {
		return Report{}, s.failDisabledRun(ctx, tenant, c, req.Run)
	}
	started, err := s.store.Tenant(tenant).Syncs().Start(ctx, start)
	if err != nil {
		return Report{}, err
	}
	r := &run{Syncer: s, tenant: tenant, connector: c, id: started.ID, agent: started.AgentID}
	ctx, end := s.active.addRun(ctx, tenant, started.ID)
	defer end()
	done, err := r.listAndStore(ctx)
	if done.FinishedAt != nil && done.State != connectors.SyncCancelled { // Cancel has counted that
		s.finished(done)
	}
	return Report{Run: done, Connector: c}, err
}

// beginRun detaches a run from its caller and binds it to the life of this process. Stop waits for end.
func (s *Syncer) beginRun(ctx context.Context) (detached context.Context, end func(), err error) {
	if !s.heartbeat.beginRun() {
		f := fault.Errorf(fault.Unavailable, "Patchbay is stopping. Try again in a moment.")
		f.Code = CodeStopping
		return nil, nil, f
	}
	detached, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	unbind := context.AfterFunc(s.heartbeat.aborted, func() {
		defer safe.Recover(safe.Timer)
		cancel(errStopped)
	})
	return detached, func() {
		unbind()
		cancel(nil)
		s.heartbeat.endRun()
	}, nil
}

// loadRequest loads the connector and the agent of a request.
func (s *Syncer) loadRequest(ctx context.Context, tenant connectors.TenantID, req Request) (connectors.Connector, store.SyncStart, error) {
	st := s.store.Tenant(tenant)
	c, err := st.Connectors().Get(ctx, req.Connector)
	if err != nil {
		return c, store.SyncStart{}, err
	}
	agent, err := findAgentID(ctx, st.Agents(), req.Agent)
	return c, store.SyncStart{
		NewRun:   store.NewRun{ConnectorID: c.ID, AgentID: agent, Trigger: req.Trigger, AuditEvent: req.auditEvent(c)},
		Run:      req.Run,
		Instance: s.instance,
	}, err
}

func findAgentID(ctx context.Context, st store.Agents, ref *connectors.Ref) (*connectors.AgentID, error) {
	if ref == nil {
		return nil, nil
	}
	agent, err := st.Get(ctx, *ref)
	if err != nil {
		return nil, err
	}
	return &agent.ID, nil
}

// failDisabledRun fails the queued run of a disabled connector.
func (s *Syncer) failDisabledRun(ctx context.Context, tenant connectors.TenantID, c connectors.Connector, queued *connectors.SyncRunID) error {
	refused := disabledError(c)
	if queued != nil {
		s.recordFailure(ctx, tenant, *queued, refused, store.ServerObservation{})
	}
	return refused
}

func disabledError(c connectors.Connector) *fault.Error {
	f := fault.Errorf(fault.Conflict, "The connector %q is disabled. Enable it to sync.", c.Name)
	f.Code = codeDisabled
	return f
}
