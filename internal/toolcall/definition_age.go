package toolcall

import (
	"context"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"patchbay/internal/access"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/safe"
	"patchbay/internal/store"
)

// Before a call that may destroy something, the definition by which it was judged must not be older than the connector allows: a server
// that turned a tool into another one since would be called by the old one's rights. So
//
//  1. the age is looked up in memory: of the view, or of what this process has learned since
//  2. where that is too old, the database is asked: another process may have synced
//  3. where that is too old, too, the tools are read again, once for all calls that wait
//  4. then the policy is looked at once more, with what is known now
//
// Tools that only read, or say that they destroy nothing, are called at once. Where the tools cannot be read the call is refused, of a
// trusted tool, too: it was trusted as it was described, and nobody knows whether it still is that. Who cannot have that gives the
// connector another age, or none.

const (
	renewTime = 30 * time.Second // that a call waits for its tool's definition
	failedFor = 10 * time.Second // after which tools that could not be read are read again
	mostAges  = 100_000          // connectors in memory
)

// ages are when connectors' tools were read. The zero value works.
type ages struct {
	flights singleflight.Group

	mu     sync.Mutex // guards what follows
	synced map[server]time.Time
	failed map[server]failedSync
}

type failedSync struct {
	at  time.Time
	err error
}

// destroys tells whether a tool may destroy something, by what it says and the specification's defaults (MCP 2025-11-25,
// ToolAnnotations).
func destroys(t *access.Tool) bool {
	reads := t.Hints.ReadOnly != nil && *t.Hints.ReadOnly
	gentle := t.Hints.Destructive != nil && !*t.Hints.Destructive
	return !reads && !gentle
}

// current tells why the call is not made with a definition as old as this one. Where the tools were read again, the call goes on with what
// is now.
func (a *attempt) current(ctx context.Context) error {
	most := a.reach.Connector.DefinitionAge
	if a.o.Resync == nil || most == 0 || a.talks() || !destroys(a.order.Tool) || a.youngerThan(most) {
		return nil
	}
	err := a.o.Store.RetryOutside(ctx, a.order.Wait, func(ctx context.Context) error { return a.renew(ctx, most) })
	if err != nil {
		return a.tooOld(err)
	}
	return a.lookAgain(ctx)
}

// freshView is what an agent may do now, as the database says.
func (c *Caller) freshView(ctx context.Context, was *access.View, wait *store.WaitBudget) (v *access.View, err error) {
	err = c.o.Store.Retry(ctx, wait, func(ctx context.Context) error {
		v, err = c.o.Access.Fresh(ctx, was.Tenant.ID, connectors.Ref(was.Agent.ID.String()))
		return err
	})
	return v, err
}

func (a *attempt) server() server { return server{a.order.View.Tenant.ID, a.reach.Connector.ID} }

// youngerThan tells whether the tools were read lately, as far as this process knows.
func (a *attempt) youngerThan(most time.Duration) bool {
	now := a.o.Now()
	if at := a.reach.Connector.ToolsLastSyncedAt; at != nil && now.Sub(*at) < most {
		return true
	}
	a.ages.mu.Lock()
	defer a.ages.mu.Unlock()
	at, known := a.ages.synced[a.server()]
	return known && now.Sub(at) < most
}

// renew has the tools read again, unless another process has. It is done once for all who wait, and goes on when one of them leaves.
func (a *attempt) renew(ctx context.Context, most time.Duration) error {
	s, c := a.server(), a.Caller
	flight := c.ages.flights.DoChan(s.tenant.String()+s.connector.String(), func() (_ any, err error) {
		defer safe.RecoverTo(safe.Call, &err)
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), renewTime)
		defer cancel()
		return nil, c.renewed(ctx, s, most)
	})
	select {
	case <-ctx.Done():
		return ctx.Err()
	case result := <-flight:
		return result.Err
	}
}

func (c *Caller) renewed(ctx context.Context, s server, most time.Duration) error {
	at, err := c.o.Store.Tenant(s.tenant).ToolsSyncedAt(ctx, s.connector)
	if err != nil {
		return err
	}
	if c.o.Now().Sub(at) < most {
		c.ages.note(s, at)
		return nil
	}
	if err := c.ages.failure(s, c.o.Now()); err != nil {
		return err
	}
	began := c.o.Now()
	if err := c.o.Resync(ctx, s.tenant, s.connector); err != nil {
		if !store.Away(err) { // else the tools are read again as soon as the database is back
			c.ages.fail(s, c.o.Now(), err)
		}
		return err
	}
	c.ages.note(s, began)
	return nil
}

// note remembers when tools were read.
func (g *ages) note(s server, at time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.synced == nil || len(g.synced) >= mostAges {
		g.synced = map[server]time.Time{}
	}
	g.synced[s] = at
	delete(g.failed, s)
}

func (g *ages) fail(s server, at time.Time, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.failed == nil || len(g.failed) >= mostAges {
		g.failed = map[server]failedSync{}
	}
	g.failed[s] = failedSync{at: at, err: err}
}

// failure is why the tools could not be read a moment ago; nil: they were not tried, or may be again.
func (g *ages) failure(s server, now time.Time) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if f, failed := g.failed[s]; failed && now.Sub(f.at) < failedFor {
		return f.err
	}
	return nil
}

// tooOld is the refusal of a call whose tool cannot be looked at.
func (a *attempt) tooOld(err error) error {
	why := "That took too long."
	if f := fault.As(err); f.Kind != fault.Internal {
		why = f.Message
	}
	return &Refusal{Code: CodeUnavailable, RetryAfter: failedFor, Err: err, Sentence: fmt.Sprintf(
		"The tool %q of %q may destroy something, and whether it is still what was accepted could not be seen: %s", a.order.Tool.Name,
		a.reach.Connector.Name, why)}
}

// lookAgain judges the call anew, by what the agent may see and call now.
func (a *attempt) lookAgain(ctx context.Context) error {
	view, err := a.freshView(ctx, a.order.View, a.order.Wait)
	if err != nil {
		return a.explain(ctx, a.order.View, a.reach, err)
	}
	tool := findTool(view, connectors.Approval{ConnectorID: a.reach.Connector.ID, Tool: a.order.Tool.Name})
	switch {
	case !view.Agent.Enabled:
		return disabled()
	case tool == nil:
		return &Refusal{Code: CodeNotGranted, Sentence: "This agent may not use the tool any more."}
	case tool.Held != "" || !tool.Listed():
		return held(tool)
	}
	if err := a.fits(ctx, tool); err != nil {
		return err
	}
	order := *a.order
	order.View, order.Tool = view, tool
	a.order, a.reach = &order, tool.Reach
	a.call.Definition = &tool.Hash
	return nil
}
