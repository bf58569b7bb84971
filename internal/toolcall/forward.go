package toolcall

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"patchbay/internal/access"
	"patchbay/internal/connectors"
	"patchbay/internal/credentials"
	"patchbay/internal/mcp"
	"patchbay/internal/store"
	"patchbay/internal/toolcall/upstream"
)

// patience is how long a call takes at most whose server says now and then that it goes on, or that asks people.
const patience = time.Hour

// errWaited says that a request waited for the database before it was sent: by now its agent may not be allowed to make it.
var errWaited = errors.New("the request waited for the database")

// judged is when a request was judged, in terms of its wait for the database. The zero value is for one that has not waited.
type judged struct {
	spent time.Duration // of the wait
	anew  bool          // by what the database said, and not by what was in memory
}

// maxJudgedWait is how long a request may wait for the database after it was judged by what that said. Requests that wait hold each other up: they
// would judge each other anew for ever otherwise.
const maxJudgedWait = 500 * time.Millisecond

// stale reports whether a request has to be judged again before it is sent.
func (j judged) stale(wait *store.WaitBudget) bool {
	waited := wait.Spent() - j.spent
	if j.anew {
		return waited > maxJudgedWait
	}
	return waited > 0
}

// forward sends the call to its server. Errors are explained. A server that is left alone is asked nothing. A call that waited for the database
// is judged anew before it is sent.
func (a *attempt) forward(ctx context.Context) (*mcp.Result, error) {
	for {
		result, err := a.forwardNow(ctx)
		if !errors.Is(err, errWaited) {
			return result, err
		}
		a.judged = judged{spent: a.order.Wait.Spent(), anew: true}
		if err := a.judgeAgain(ctx); err != nil {
			return nil, a.because(ctx, err)
		}
	}
}

// judgeAgain judges a call that waited for the database by what its agent may do now.
func (a *attempt) judgeAgain(ctx context.Context) error {
	if a.approved != nil {
		return a.stillWhatWasApproved(ctx, *a.approved)
	}
	if err := a.stillStands(ctx); err != nil {
		return err
	}
	if a.call.ApprovedBy == "" && a.order.Tool.AsksAt(a.o.Now()) {
		return &Refusal{Code: CodeUnavailable, RetryAfter: time.Second, Sentence: "A person has to agree to this call now, which changed while it waited. Make it again."}
	}
	return nil
}

// forwardNow is forward for a call that has not waited since it was judged; else the error is errWaited.
func (a *attempt) forwardNow(ctx context.Context) (result *mcp.Result, err error) {
	ctx, call, done := a.request(ctx)
	defer done()
	err = a.guarded(ctx, a.order.View, a.reach, func() error {
		return a.insist(ctx, a.want(), &a.sent, func(s *mcp.Session) error {
			if !a.tried && a.judged.stale(a.order.Wait) {
				return errWaited
			}
			a.tried = true
			result, err = a.send(ctx, s, call)
			return err
		})
	})
	switch {
	case errors.Is(err, errWaited):
		return nil, err
	case err != nil:
		return nil, a.explain(ctx, a.order.View, a.reach, err)
	}
	a.note(a.order.View.Tenant.ID, a.sent)
	if result.Task != nil && !a.order.Task {
		return a.awaitTask(ctx, call, result.Task)
	}
	return result, nil
}

// guarded does something behind the breaker of a server.
func (c *Caller) guarded(ctx context.Context, v *access.View, r *access.Reach, do func() error) error {
	p, wait, ok := c.breakers.enter(server{v.Tenant.ID, r.Connector.ID}, v.Agent.ID, c.o.Now())
	if !ok {
		return circuitOpen(r.Connector.Name, wait)
	}
	came := undecided
	defer func() { c.breakers.settle(p, came, c.o.Now()) }()
	err := do()
	came = verdictOf(ctx, err)
	return err
}

// verdictOf tells what an error says of a server.
func verdictOf(ctx context.Context, err error) verdict {
	failure, ok := errors.AsType[*mcp.Error](err)
	switch {
	case err == nil:
		return answered
	case errors.Is(context.Cause(ctx), errTimeout):
		return silent
	case ctx.Err() != nil, !ok:
		return undecided
	case failure.Reason == mcp.ReasonTimeout:
		return silent
	case failure.Reason == mcp.ReasonUnreachable, failure.Reason == mcp.ReasonTLS,
		failure.HTTPStatus >= http.StatusInternalServerError && failure.RPC == nil:
		return failed
	default:
		return answered
	}
}

// want says whose session the call uses.
func (a *attempt) want() upstream.Want {
	w := wantOf(a.order.View, a.reach, a.order.Client)
	hints := a.order.Tool.Hints
	w.Safe = hints.ReadOnly != nil && *hints.ReadOnly || hints.Idempotent != nil && *hints.Idempotent
	return w
}

func wantOf(v *access.View, r *access.Reach, client Client) upstream.Want {
	w := upstream.Want{Tenant: v.Tenant.ID, Connector: r.Connector, Agent: &v.Agent.ID, Wait: client.Wait}
	if client.Ask != nil {
		w.Capabilities = asked(client.Capabilities)
		w.Private = w.Capabilities != "" && oneStream(&r.Connector)
	}
	return w
}

// oneStream tells whether all that a server says comes on one stream: whose call it belongs to is not known then.
func oneStream(c *connectors.Connector) bool {
	return c.Transport == connectors.TransportStdio || c.Transport == connectors.TransportSSE || c.Era == string(mcp.EraSSE)
}

// request is the call as package mcp takes it. Where the server may ask or tell meanwhile, its time begins anew each time it does: the
// context that is returned ends when it is over.
func (a *attempt) request(ctx context.Context) (_ context.Context, call mcp.Call, done func()) {
	o := a.order
	call = mcp.Call{
		Name: o.Tool.Name, Arguments: o.Arguments, Meta: o.Meta, InputSchema: o.Tool.InputSchema, Timeout: a.reach.Connector.Timeout,
		LogLevel: o.LogLevel, Lend: a.lends, Who: o.View.Agent.ID.UUID, Payer: o.View.Tenant.ID.UUID,
	}
	if o.Input != nil {
		call.Input = &mcp.Input{Responses: o.Input.Responses, State: a.went.State}
	}
	call.Message = o.messages(&a.reach.Connector)
	if o.Progress == nil && o.Ask == nil {
		return ctx, call, func() {}
	}
	ctx, w := watch(ctx, call.Timeout)
	call.Timeout = patience
	if o.Progress != nil {
		call.Progress = func(n mcp.ProgressNote) {
			w.heard()
			a.noteProgress(soFar{note: n})
			o.Progress(progressParams(n))
		}
	}
	if o.Ask != nil {
		can := abilitiesOf(o.Capabilities)
		call.Answer = func(r mcp.InputRequest) (json.RawMessage, error) {
			if !can.answers(r.Method, r.Params) {
				return nil, errNotAsked
			}
			defer w.pause()()
			return o.Ask(ctx, r.Method, r.Params)
		}
	}
	return ctx, call, w.stop
}

// messages takes what a server says while a request is under way, as far as it is for its client; nil: nothing is.
func (c *Client) messages(of *connectors.Connector) func(mcp.Message) {
	if c.Message == nil || oneStream(of) {
		return nil
	}
	return func(m mcp.Message) {
		if m.Method == "notifications/message" {
			c.Message(m.Method, m.Params)
		}
	}
}

func progressParams(n mcp.ProgressNote) json.RawMessage {
	params := struct {
		Progress float64 `json:"progress"`
		Total    float64 `json:"total,omitempty"`
		Message  string  `json:"message,omitempty"`
	}{n.Progress, n.Total, n.Message}
	raw, err := json.Marshal(params)
	if err != nil {
		return json.RawMessage(`{"progress":0}`)
	}
	return raw
}

// insist uses a session. What the server says against the token is noted, and where a machine gets another one for it, it is tried with
// that.
func (c *Caller) insist(ctx context.Context, w upstream.Want, sent **credentials.Usable, do func(*mcp.Session) error) error {
	w.Sent = sent
	err := c.pool.Use(ctx, w, do)
	if err == nil {
		return nil
	}
	again, err := c.accuse(ctx, w, *sent, err)
	if again {
		err = c.pool.Use(ctx, w, do)
	}
	return err
}
