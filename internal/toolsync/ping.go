package toolsync

import (
	"context"
	"errors"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/mcp"
	"patchbay/internal/safehttp"
	"patchbay/internal/store"
)

// PingReport is the result of a ping. It is not stored.
type PingReport struct {
	Server  connectors.Server
	Era     string        // as in connectors.Connector
	Connect time.Duration // until the session is open: connection, program start, handshake
	Ping    time.Duration // of the ping alone
	Error   *fault.Error  // Upstream, or Conflict when a credential is missing; nil: the server responded
}

// Ping opens a session of a stored connector with its stored credential, sends one ping and ends the session. A server of
// 2026-07-28, which knows no ping, gets server/discover. It stores only auditEvent. An error concerns the connector or
// Patchbay; failures of the server are in the report.
func (s *Syncer) Ping(
	ctx context.Context, tenant connectors.TenantID, auditEvent *store.Event, ref connectors.Ref, agent *connectors.Ref,
) (PingReport, error) {
	if !s.probes.TryAcquire(tenant) {
		return PingReport{}, tooManyProbesError()
	}
	defer s.probes.Release(tenant)
	c, start, err := s.loadRequest(ctx, tenant, Request{Connector: ref, Agent: agent})
	if err != nil {
		return PingReport{}, err
	}
	if !c.Enabled {
		return PingReport{}, disabledError(c)
	}
	if err := s.recordTest(ctx, tenant, auditEvent, connectors.DraftOf(c), &c); err != nil {
		return PingReport{}, err
	}
	ctx = safehttp.WithTenant(ctx, tenant.String())
	attempts, err := s.planAttempts(ctx, tenant, c, start.AgentID)
	if err != nil {
		failed, err := s.signInReport(ctx, tenant, c, connectors.Secret{}, err)
		return PingReport{Error: failed.Error}, err
	}
	var report PingReport
	began := time.Now()
	report.Error = s.useSession(ctx, tenant, c, attempts, func(session *mcp.Session) error {
		report.Server, report.Era, report.Connect = connectors.Server(session.Server()), string(session.Era()), time.Since(began)
		began = time.Now()
		err := session.Ping(ctx)
		report.Ping, began = time.Since(began), time.Now()
		if failure, ok := errors.AsType[*mcp.Error](err); ok && failure.RPCCode == mcp.CodeMethodNotFound {
			return nil // a server without ping has responded, too
		}
		return err
	})
	return report, nil
}
