package churn

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"
)

// Options say what runs where. Base and Key are required.
type Options struct {
	Base string // address of a Patchbay that may reach loopback addresses and limits no rates
	Key  string // an API key of an owner

	Admins, Agents, Own, Untouched int // 0: 6, 8, 5 connectors of each admin, 10 connectors that no admin changes

	// Delay is how long after the answer to an act an agent may still be told what was before it; 0: not at all, as within one process.
	Delay time.Duration
	// Outages says that requests may be lost or refused for a while. A connector whose act had no clear end is not judged any more.
	Outages bool
}

// Report is what came of a run.
type Report struct {
	Acts, Lists, Calls int            // that were answered
	Wrong              map[string]int // faults by kind: each has to be 0
	Faults             []string       // the first of each kind, as sentences
}

// The kinds of faults.
const (
	Internal    = "internal errors (500, -32603)"
	WrongList   = "wrong lists"
	FailedCall  = "failed calls of connectors that nobody touched"
	RefusedAct  = "acts that were refused"
	LostRequest = "requests without an answer"
)

// Kinds are all of them.
var Kinds = []string{Internal, WrongList, FailedCall, RefusedAct, LostRequest}

// Load is a run.
type Load struct {
	Options
	client    *http.Client
	servers   *servers
	agents    []*agent
	untouched []*slot // that no admin changes

	mu     sync.Mutex // guards what follows
	slots  []*slot    // all of them
	report Report
}

// New sets up agents, and the connectors that no admin changes. Run ends what it starts.
func New(ctx context.Context, o Options) (*Load, error) {
	for number, usual := range map[*int]int{&o.Admins: 6, &o.Agents: 8, &o.Own: 5, &o.Untouched: 10} {
		if *number == 0 {
			*number = usual
		}
	}
	l := &Load{
		Options: o,
		client:  &http.Client{Timeout: 40 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: o.Admins + o.Agents}},
		servers: newServers(),
		report:  Report{Wrong: map[string]int{}},
	}
	if err := l.setUp(ctx); err != nil {
		l.servers.close()
		return nil, fmt.Errorf("set up: %w", err)
	}
	return l, nil
}

// Run has admins and agents at work until ctx ends, and reports. What is under way then is finished.
func (l *Load) Run(ctx context.Context) Report {
	var running sync.WaitGroup
	for range l.Admins {
		var own []*slot
		for range l.Own {
			own = append(own, l.newSlot())
		}
		running.Go(func() { l.administrate(ctx, own) })
	}
	for _, a := range l.agents {
		running.Go(func() { a.work(ctx) })
	}
	running.Wait()
	l.client.CloseIdleConnections()
	l.servers.close()
	return l.report
}

// setUp makes the agents, and the connectors that no admin changes, which every agent may use.
func (l *Load) setUp(ctx context.Context) error {
	for n := range l.Agents {
		a := &agent{Load: l, slug: fmt.Sprintf("churn-%d", n), number: n, modern: n%2 == 0}
		if err := l.must(ctx, http.MethodPost, "/api/v1/agents", object{"name": a.slug, "slug": a.slug, "approval": "auto"}, nil); err != nil {
			return err
		}
		var made struct{ Token string }
		if err := l.must(ctx, http.MethodPost, "/api/v1/agents/"+a.slug+"/tokens", object{"name": "churn"}, &made); err != nil {
			return err
		}
		a.token = made.Token
		l.agents = append(l.agents, a)
	}
	for range l.Untouched {
		s := l.newSlot()
		l.untouched = append(l.untouched, s)
		for _, do := range []act{(*Load).create, (*Load).sync, (*Load).grantAll} {
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
	l.servers.add(s.server)
	return s
}

// allSlots are the slots that there are now.
func (l *Load) allSlots() []*slot {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.slots[:len(l.slots):len(l.slots)]
}

func (l *Load) count(number *int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	*number++
}

// fault notes what must not be, and keeps the first sentences of each kind.
func (l *Load) fault(kind, format string, args ...any) {
	const kept = 5
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.report.Wrong[kind]++; l.report.Wrong[kind] <= kept {
		l.report.Faults = append(l.report.Faults, kind+": "+fmt.Sprintf(format, args...))
	}
}
