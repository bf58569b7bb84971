package toolsync

import (
	"context"
	"log/slog"
	"net/http"

	"github.com/google/uuid"

	"patchbay/internal/connectors"
	"patchbay/internal/credentials"
	"patchbay/internal/mcp"
	"patchbay/internal/safehttp"
	"patchbay/internal/store"
	"patchbay/internal/tracing"
)

// Options configure a [Syncer]. Store, Credentials and one of Egress and HTTP are required.
type Options struct {
	Store       *store.Store
	Credentials *credentials.Resolver
	Egress      *safehttp.Policy // nil: HTTP alone decides where it may connect
	HTTP        *http.Client     // nil: that of Egress
	Version     string           // ours, told to servers
	Instance    connectors.InstanceID
	Log         *slog.Logger
	Programs    Programs
	Tracer      *tracing.Tracer // nil: nobody looks

	// Finished is told of every run whose end was stored, for the metrics; nil: nobody.
	Finished func(connectors.SyncRun)
}

// Syncer performs sync runs. Between Start and Stop its process is known to be alive; no run starts outside of them.
type Syncer struct {
	store       *store.Store
	credentials *credentials.Resolver
	egress      *safehttp.Policy
	dialer      *mcp.Dialer
	clientFor   func(connectors.TenantID) *http.Client
	instance    connectors.InstanceID
	log         *slog.Logger
	tracer      *tracing.Tracer
	finished    func(connectors.SyncRun)
	feed        feed
	testing     crowd
	programs    Programs
	seats       seats
	lasting     seats // of conversations that are no syncs
	heart       heart
	places      *places // of scheduled syncs
	ends        *ends   // of scheduled syncs
	saves       *turns
	held        held
}

// New makes a Syncer.
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
		store:       o.Store,
		credentials: o.Credentials,
		egress:      o.Egress,
		dialer:      &mcp.Dialer{HTTP: o.HTTP, Version: o.Version, Span: o.Tracer.Told()},
		clientFor:   clientFor,
		instance:    o.Instance,
		log:         o.Log,
		tracer:      o.Tracer,
		finished:    o.Finished,
		programs:    o.Programs,
	}
	s.heart.ending, s.heart.end = context.WithCancel(context.Background())
	s.heart.cutOff, s.heart.cut = context.WithCancel(context.Background())
	s.places, s.saves = newPlaces(maxPlaces), newTurns(maxSaves)
	s.ends = &ends{store: s.store, instance: s.instance, log: s.log, stopped: s.heart.cutOff}
	return s
}

// Request names a sync run to perform.
type Request struct {
	Connector connectors.Ref
	Agent     *connectors.Ref // whose credential to use; nil: the shared one, or whichever serves
	Trigger   connectors.SyncTrigger
	Run       *connectors.SyncRunID // a queued run to perform; nil: a new one
	Asked     *store.Event          // the audit log's entry of whoever asks for it; nil: nobody does, as by the clock
}

// Report is a finished run, and the connector as it was when the run began.
type Report struct {
	Run       connectors.SyncRun
	Connector connectors.Connector
}
