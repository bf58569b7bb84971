package churn

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"
)

// Options configure a [Load]. Base and Key are required.
type Options struct {
	Base string // URL of a Patchbay with access to loopback addresses and without rate limits
	Key  string // API key of an owner

	Admins, Agents, Own, Untouched int // 0: 6 admins, 8 agents, 5 connectors of each admin, 10 unchanged connectors

	// Delay is how long agents may see the old state after an action's response; 0: within one process.
	Delay time.Duration
	// Outages are when requests may be lost or refused; nil: never. A connector is not judged after an action
	// with an unknown outcome.
	Outages *Outages
}

// Report is the result of a run.
type Report struct {
	Acts        map[string]int // that succeeded, by [ActKinds]
	Lists       map[string]int // that were judged, by [ListKinds]
	Calls       int            // with a response
	JudgedCalls int            // with a response that had to be the tool's
	Wrong       map[string]int // faults by kind: must be 0
	Faults      []string       // the first sentences of each kind
}

// The kinds of faults. Those of [FailedCall] and [LostRequest] are counted outside outages.
const (
	Internal    = "internal errors (500, -32603)"
	WrongList   = "wrong lists"
	FailedCall  = "failed calls of connectors that nobody touched"
	RefusedAct  = "acts that were refused"
	LostRequest = "requests without an answer"
	TooFew      = "kinds of acts, lists and judged calls that were too few"
)

// Kinds lists them.
var Kinds = []string{Internal, WrongList, FailedCall, RefusedAct, LostRequest, TooFew}

// Minima for each 15 seconds of a run, and at least one of each kind. Two cores do over ten times as many.
const (
	minActs  = 1  // of each kind
	minLists = 5  // of each kind
	minCalls = 10 // that were judged
)

// Load is a run.
type Load struct {
	Options
	client    *http.Client
	servers   *serverGroup
	agents    []*loadAgent
	untouched []*slot // unchanged connectors

	mu     sync.Mutex // guards the fields below
	slots  []*slot
	report Report
}

// New creates agents and the unchanged connectors. Run closes what it starts.
func New(ctx context.Context, o Options) (*Load, error) {
	for number, defaultValue := range map[*int]int{&o.Admins: 6, &o.Agents: 8, &o.Own: 5, &o.Untouched: 10} {
		if *number == 0 {
			*number = defaultValue
		}
	}
	l := &Load{
		Options: o,
		client:  &http.Client{Timeout: 40 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: o.Admins + o.Agents, IdleConnTimeout: 30 * time.Second}},
		servers: newServers(),
		report:  newReport(),
	}
	if err := l.setUp(ctx); err != nil {
		l.servers.close()
		return nil, fmt.Errorf("set up: %w", err)
	}
	return l, nil
}

func newReport() Report {
	return Report{Acts: map[string]int{}, Lists: map[string]int{}, Wrong: map[string]int{}}
}

// Run runs admins and agents until ctx ends. Requests in flight finish.
func (l *Load) Run(ctx context.Context) Report {
	start := time.Now()
	var running sync.WaitGroup
	for range l.Admins {
		var own []*slot
		for range l.Own {
			own = append(own, l.newSlot())
		}
		running.Go(func() { l.runAdmin(ctx, own) })
	}
	for _, a := range l.agents {
		running.Go(func() { a.run(ctx) })
	}
	running.Wait()
	l.client.CloseIdleConnections()
	l.servers.close()
	l.checkCounts(time.Since(start))
	return l.report
}

// checkCounts records what a run of this length did too rarely.
func (l *Load) checkCounts(length time.Duration) {
	interval := 15 * time.Second
	if l.Outages != nil { // most of the time may be an outage
		interval = time.Minute
	}
	check := func(what string, got, perInterval int) {
		if want := int(length * time.Duration(perInterval) / interval); got < want {
			l.recordFault(TooFew, "%s: %d in %s, want at least %d", what, got, length.Round(time.Second), want)
		}
	}
	for _, kind := range ActKinds() {
		check(kind, l.report.Acts[kind], minActs)
	}
	for _, kind := range ListKinds() {
		check(kind, l.report.Lists[kind], minLists)
	}
	check("judged calls", l.report.JudgedCalls, minCalls)
}

// setUp creates agents and the unchanged connectors, granted to every agent.
func (l *Load) setUp(ctx context.Context) error {
	for n := range l.Agents {
		a := &loadAgent{Load: l, slug: fmt.Sprintf("churn-%d", n), number: n, modern: n%2 == 0, sessions: map[string]string{}}
		if err := l.callAPI(ctx, http.MethodPost, "/api/v1/agents", jsonObject{"name": a.slug, "slug": a.slug, "approval": "auto"}, nil); err != nil {
			return err
		}
		var created struct{ Token string }
		if err := l.callAPI(ctx, http.MethodPost, "/api/v1/agents/"+a.slug+"/tokens", jsonObject{"name": "churn"}, &created); err != nil {
			return err
		}
		a.token = created.Token
		l.agents = append(l.agents, a)
	}
	for range l.Untouched {
		s := l.newSlot()
		l.untouched = append(l.untouched, s)
		for _, do := range []adminAction{(*Load).createConnector, (*Load).syncLists, (*Load).grantAll} {
			if err := do(l, ctx, s); err != nil {
				return err
			}
		}
	}
	return nil
}

func (l *Load) newSlot() *slot {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := newSlot(len(l.slots))
	l.slots = append(l.slots, s)
	l.servers.addServer(s.server)
	return s
}

func (l *Load) allSlots() []*slot {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.slots[:len(l.slots):len(l.slots)]
}

// countReport changes the report's counts.
func (l *Load) countReport(count func(r *Report)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	count(&l.report)
}

// recordFault counts a fault, and keeps the first sentences of each kind.
func (l *Load) recordFault(kind, format string, args ...any) {
	const kept = 5
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.report.Wrong[kind]++; l.report.Wrong[kind] <= kept {
		l.report.Faults = append(l.report.Faults, kind+": "+fmt.Sprintf(format, args...))
	}
}
