package auditstreams

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/url"
	"sync"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/limit"
	"patchbay/internal/safe"
	"patchbay/internal/store"
)

// Options configure a [Service]. Store and Egress are required.
type Options struct {
	Store   *store.Store
	Egress  Egress
	Host    string // of this installation, for syslog
	Version string
	Log     *slog.Logger     // nil: discard
	Now     func() time.Time // nil: time.Now

	// Interval is the pause between two looks for undelivered records; 0: 2 s.
	Interval time.Duration
	// Jitter changes the pause after a failure; nil: up to 10 % more.
	Jitter func(time.Duration) time.Duration
	// Lease is how long a silent process keeps a stream; 0: 1 minute. Timeout is that of an attempt; 0: 20 s.
	Lease, Timeout time.Duration
	// Turn is how long a process sends one stream before others have a turn; 0: 20 s.
	Turn time.Duration
}

// Egress makes connections by the egress rules. It is a *safehttp.Policy.
type Egress interface {
	ClientFor(tenant string) *http.Client
	CheckURL(raw string) (*url.URL, error)
	CheckTLS(address string) error
	DialTLS(ctx context.Context, address string, roots *x509.CertPool) (*tls.Conn, error)
}

// Service sends the tenants' audit streams. It is safe for concurrent use.
type Service struct {
	o        Options
	runs     sync.WaitGroup
	loop     sync.WaitGroup
	stopLoop context.CancelFunc // nil: not started
	abort    context.CancelFunc // ends attempts
	slots    chan struct{}
	tests    *limit.Gate[connectors.TenantID] // of test messages
}

// Bounds of a process: the streams that it sends at once, and the test messages.
const (
	maxRuns        = 16
	maxTests       = 8
	maxTenantTests = 2
)

// New returns a Service.
func New(o Options) *Service {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Jitter == nil {
		o.Jitter = func(d time.Duration) time.Duration { return d + rand.N(d/10+1) }
	}
	o.Interval, o.Lease, o.Timeout = cmp.Or(o.Interval, 2*time.Second), cmp.Or(o.Lease, time.Minute), cmp.Or(o.Timeout, 20*time.Second)
	o.Turn = cmp.Or(o.Turn, 20*time.Second)
	return &Service{o: o, slots: make(chan struct{}, maxRuns), tests: limit.NewGate[connectors.TenantID](maxTenantTests, maxTests)}
}

func (s *Service) mapperFor(tenant connectors.TenantID) mapper {
	return mapper{tenant: tenant, version: s.o.Version, now: s.o.Now}
}

// Start sends undelivered records until Stop.
func (s *Service) Start(ctx context.Context) {
	attempts, abort := context.WithCancel(context.WithoutCancel(ctx))
	looking, stop := context.WithCancel(attempts)
	s.stopLoop, s.abort = stop, abort
	safe.GoIn(&s.loop, safe.Background, func() {
		safe.RunLoop(looking, "audit streams", func(looking context.Context) { s.lookForRecords(looking, attempts) })
	})
}

// Stop starts no more attempts and waits for those under way; when ctx is done it ends them.
func (s *Service) Stop(ctx context.Context) {
	if s.stopLoop == nil {
		return
	}
	s.stopLoop()
	s.loop.Wait()
	stop := context.AfterFunc(ctx, safe.Func(safe.Background, s.abort))
	defer stop()
	s.runs.Wait()
	s.abort()
}

// lookForRecords claims streams with undelivered records and sends them, until looking ends.
func (s *Service) lookForRecords(looking, attempts context.Context) {
	timer := time.NewTicker(s.o.Interval)
	defer timer.Stop()
	for {
		s.claimStreams(looking, attempts)
		select {
		case <-looking.Done():
			return
		case <-timer.C:
		}
	}
}

// claimStreams claims as many streams as there are free slots, and sends each in its own goroutine.
func (s *Service) claimStreams(looking, attempts context.Context) {
	free := cap(s.slots) - len(s.slots)
	if free == 0 || looking.Err() != nil {
		return
	}
	leases, err := s.o.Store.System().ClaimAuditStreams(looking, s.o.Lease, free)
	if err != nil {
		if looking.Err() == nil {
			s.o.Log.WarnContext(looking, "audit streams not claimed", "error", err)
		}
		return
	}
	for _, l := range leases {
		s.slots <- struct{}{} // free: only this loop takes slots
		safe.GoIn(&s.runs, safe.Background, func() {
			defer func() { <-s.slots }()
			r := run{Service: s, lease: l, looking: looking, st: s.o.Store.Tenant(l.Tenant)}
			if err := r.sendRecords(attempts); err != nil && attempts.Err() == nil {
				s.o.Log.WarnContext(attempts, "audit stream not sent", "tenant_id", l.Tenant, "audit_stream_id", l.Stream, "error", err)
			}
		})
	}
}
