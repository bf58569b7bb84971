package toolsync

import (
	"context"
	"log/slog"
	"net/http"

	"github.com/google/uuid"

	"patchbay/internal/apitools"
	"patchbay/internal/connectors"
	"patchbay/internal/credentials"
	"patchbay/internal/limit"
	"patchbay/internal/mcp"
	"patchbay/internal/safehttp"
	"patchbay/internal/store"
	"patchbay/internal/tracing"
)

// Options configure a [Syncer]. Store, Credentials and one of Egress and HTTP are required.
type Options struct {
	Store       *store.Store
	Credentials *credentials.Resolver
	Egress      *safehttp.Policy // nil: HTTP decides what it connects to
	HTTP        *http.Client     // nil: the client of Egress
	Version     string           // sent to servers as the client's version
	Instance    connectors.InstanceID
	Log         *slog.Logger
	Programs    CommandPolicy
	Tracer      *tracing.Tracer // nil: no tracing

	// Finished is called with every stored run, for the metrics; nil: no call.
	Finished func(connectors.SyncRun)
}

// Syncer performs sync runs between Start and Stop.
type Syncer struct {
	store               *store.Store
	credentials         *credentials.Resolver
	egress              *safehttp.Policy
	dialer              *mcp.Dialer
	clientFor           func(connectors.TenantID) *http.Client
	instance            connectors.InstanceID
	log                 *slog.Logger
	tracer              *tracing.Tracer
	finished            func(connectors.SyncRun)
	feed                progressFeed
	probes              *limit.Gate[connectors.TenantID]
	toolReads           *limit.Gate[connectors.ConnectorID]
	programs            CommandPolicy
	syncCommandSlots    *limit.Gate[connectors.TenantID] // of syncs
	sessionCommandSlots *limit.Gate[connectors.TenantID] // of lasting sessions
	heartbeat           heartbeat
	slots               *slotPool      // of scheduled syncs
	outcomes            *outcomeWriter // of scheduled syncs
	saves               *limit.Gate[connectors.TenantID]
	claims              claimSet
	active              activeRuns
	apiTools            apitools.Cache
}

// New returns a Syncer.
func New(o Options) *Syncer {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Finished == nil {
		o.Finished = func(connectors.SyncRun) {}
	}
	clientFor := func(connectors.TenantID) *http.Client { return o.HTTP }
	if o.Egress != nil && (o.HTTP == nil || o.HTTP == o.Egress.Client()) {
		o.HTTP = o.Egress.Client()
		clientFor = func(tenant connectors.TenantID) *http.Client { return o.Egress.ClientFor(tenant.String()) }
	}
	if o.Instance == (connectors.InstanceID{}) {
		o.Instance = connectors.InstanceID{UUID: uuid.Must(uuid.NewV7())}
	}
	s := &Syncer{
		store:               o.Store,
		credentials:         o.Credentials,
		egress:              o.Egress,
		dialer:              &mcp.Dialer{HTTP: o.HTTP, Version: o.Version, TraceContext: o.Tracer.Told()},
		clientFor:           clientFor,
		instance:            o.Instance,
		log:                 o.Log,
		tracer:              o.Tracer,
		finished:            o.Finished,
		programs:            o.Programs,
		probes:              limit.NewGate[connectors.TenantID](maxProbes, 0),
		toolReads:           limit.NewGate[connectors.ConnectorID](maxToolReads, 0),
		syncCommandSlots:    limit.NewGate[connectors.TenantID](maxTenantPrograms, maxPrograms),
		sessionCommandSlots: limit.NewGate[connectors.TenantID](maxTenantPrograms, maxPrograms),
	}
	s.heartbeat.draining, s.heartbeat.startDraining = context.WithCancel(context.Background())
	s.heartbeat.aborted, s.heartbeat.abortRuns = context.WithCancel(context.Background())
	s.slots, s.saves = newSlotPool(maxSlots), limit.NewGate[connectors.TenantID](0, maxSaves)
	s.outcomes = &outcomeWriter{store: s.store, instance: s.instance, log: s.log, aborted: s.heartbeat.aborted}
	return s
}

// Request names a sync run to perform.
type Request struct {
	Connector  connectors.Ref
	Agent      *connectors.Ref // agent whose credential to use; nil: the shared one, or any
	Trigger    connectors.SyncTrigger
	Run        *connectors.SyncRunID // a queued run to perform; nil: a new one
	AuditEvent *store.Event          // audit entry of the request; nil: not audited, as for scheduled syncs
}

// Report is a finished run and its connector as of the run's start.
type Report struct {
	Run       connectors.SyncRun
	Connector connectors.Connector
}
