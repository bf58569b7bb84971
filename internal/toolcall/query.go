package toolcall

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"time"

	"patchbay/internal/access"
	"patchbay/internal/connectors"
	"patchbay/internal/credentials"
	"patchbay/internal/fault"
	"patchbay/internal/history"
	"patchbay/internal/mcp"
)

// Query is any other request to a connector's server.
type Query struct {
	View   *access.View
	Reach  *access.Reach
	ID     connectors.ToolCallID // for the history; zero: a new one
	Kind   connectors.CallKind   // what the history has it as; empty: nothing
	Name   string                // for the history: the upstream's
	Shown  string                // as the agent named it; empty: as Name
	Method string
	Params json.RawMessage // as the server wants them
	Source connectors.CallSource
	Caller string
	Token  *connectors.AgentTokenID
	From   connectors.CallOrigin
	Client

	judged judged
}

// Request sends any other request, under the same policy as a call, and returns the result as the server wrote it. A request for input
// has our own state in it, as that of a call. Nobody is asked about it, and no person approves it: it is to change nothing.
func (c *Caller) Request(ctx context.Context, q Query) (json.RawMessage, error) {
	call := q.beginning(c.o.Now())
	here, err := c.enter(ctx, call.ID)
	if err != nil {
		return nil, err
	}
	defer here.leave()
	ctx = here
	var entry *history.Entry
	if q.Kind != "" {
		entry = c.o.History.Begin(q.View.Tenant, call)
	}
	var sent *credentials.Usable
	raw, err := c.query(ctx, q, &sent)
	if entry != nil {
		a := attempt{Caller: c, sent: sent}
		ended := entry.End(func(call *connectors.ToolCall) {
			a.settle(call, &mcp.Result{Raw: raw, Structured: raw}, err)
		})
		if c.o.Ended != nil {
			c.o.Ended(ended)
		}
	}
	return raw, err
}

func (q *Query) beginning(now time.Time) connectors.ToolCall {
	shown := q.Shown
	if shown == "" {
		shown = q.Name
	}
	if q.ID == (connectors.ToolCallID{}) {
		q.ID = newCallID()
	}
	return connectors.ToolCall{
		ID: q.ID, AgentID: &q.View.Agent.ID, AgentSlug: q.View.Agent.Slug, ConnectorID: &q.Reach.Connector.ID,
		ConnectorSlug: q.Reach.Connector.Slug, Kind: q.Kind, Tool: q.Name, ExposedName: shown, Source: q.Source, Caller: q.Caller,
		CallOrigin: q.From, TokenID: q.Token, Status: connectors.CallRunning, Arguments: q.Params, RequestBytes: int64(len(q.Params)), StartedAt: now,
	}
}

func (c *Caller) query(ctx context.Context, q Query, sent **credentials.Usable) (json.RawMessage, error) {
	agent := q.View.Agent.ID
	if !c.underWay.enter(agent, mostUnderWay) {
		return nil, tooMany()
	}
	defer c.underWay.leave(agent)
	if err := c.hurried(q.View, q.Reach); err != nil {
		return nil, err
	}
	params, err := c.ownParams(q)
	if err != nil {
		return nil, err
	}
	raw, err := c.ask(ctx, &q, params, sent)
	if err != nil {
		return nil, err
	}
	return c.handOutOther(q, raw)
}

// ask sends the request. Errors are explained. One that waited for the database is judged anew before it is sent.
func (c *Caller) ask(ctx context.Context, q *Query, params json.RawMessage, sent **credentials.Usable) (raw json.RawMessage, err error) {
	q.judged = judged{spent: q.Wait.Spent()}
	for {
		if raw, err = c.askNow(ctx, q, params, sent); errors.Is(err, errWaited) {
			q.judged = judged{spent: q.Wait.Spent(), anew: true}
			if err = c.judgeQuery(ctx, q); err == nil {
				continue
			}
		}
		if err != nil {
			return nil, c.explain(ctx, q.View, q.Reach, err)
		}
		c.note(q.View.Tenant.ID, *sent)
		return raw, nil
	}
}

// askNow is ask for a request that has not waited since it was judged; else the error is errWaited.
func (c *Caller) askNow(ctx context.Context, q *Query, params json.RawMessage, sent **credentials.Usable) (raw json.RawMessage, err error) {
	w := wantOf(q.View, q.Reach, Client{Wait: q.Wait})
	w.Safe = q.Kind != ""
	ctx, asked, done := q.heard(ctx, params)
	defer done()
	tried := false
	err = c.guarded(ctx, q.View, q.Reach, func() error {
		return c.insist(ctx, w, sent, func(s *mcp.Session) error {
			if !tried && q.judged.stale(q.Wait) {
				return errWaited
			}
			tried = true
			raw, err = q.send(ctx, s, asked)
			return err
		})
	})
	return raw, err
}

// judgeQuery judges a request that waited for the database by what its agent may do now.
func (c *Caller) judgeQuery(ctx context.Context, q *Query) error {
	switch err := c.tokenStands(ctx, q.Token, q.Wait); {
	case fault.Is(err, fault.Unauthenticated):
		return &Refusal{Code: CodeNotGranted, Sentence: "The token with which this request came has ended meanwhile. Sign in again, or come with another one."}
	case err != nil:
		return err
	}
	view, err := c.freshView(ctx, q.View, q.Wait)
	if err != nil {
		return err
	}
	if !view.Agent.Enabled {
		return disabled()
	}
	reach := view.Reach(q.Reach.Connector.Slug)
	if reach == nil || reach.Connector.ID != q.Reach.Connector.ID || q.Kind == connectors.CallPrompt && reach.Item(connectors.ItemPrompt, q.Name) == nil {
		return &Refusal{Code: CodeNotGranted, Sentence: "This agent may not use what it asked for any more."}
	}
	q.View, q.Reach = view, reach
	return nil
}

// heard is the request as package mcp takes it, which hears what its client wants to hear. As that of a call, its time begins anew each
// time its server says that it goes on: the context that is returned ends when it is over.
func (q *Query) heard(ctx context.Context, params json.RawMessage) (_ context.Context, asked mcp.Query, done func()) {
	asked = mcp.Query{Method: q.Method, Params: params, LogLevel: q.LogLevel, Message: q.messages(&q.Reach.Connector), Payer: q.View.Tenant.ID.UUID}
	if q.Progress == nil {
		return ctx, asked, func() {}
	}
	ctx, w := watch(ctx, q.Reach.Connector.Timeout)
	asked.Timeout = patience
	asked.Progress = func(n mcp.ProgressNote) {
		w.heard()
		q.Progress(progressParams(n))
	}
	return ctx, asked, w.stop
}

// identity is what a request for input of another method belongs to.
func (q *Query) identity() []byte {
	sum := sha256.Sum256([]byte(q.Reach.Connector.ID.String() + " " + q.Method + " " + q.Name))
	return sum[:]
}

// ownParams are the params with the server's own state, where the client goes on with a request.
func (c *Caller) ownParams(q Query) (json.RawMessage, error) {
	handle, _ := member(q.Params, "requestState")
	if handle == nil {
		return q.Params, nil
	}
	var s state
	if ambiguous(q.Params) || !c.openHandle(q.View, purposeState, handle, &s) || string(s.Call) != string(q.identity()) {
		return nil, &BadArguments{Sentence: "The requestState is not one of this request. Make it anew, without it."}
	}
	if len(s.State) == 0 {
		s.State = json.RawMessage("null")
	}
	return withMember(q.Params, "requestState", s.State), nil
}

// handOutOther puts our state in the place of the server's, where it asks for input.
func (c *Caller) handOutOther(q Query, raw json.RawMessage) (json.RawMessage, error) {
	if kind, _ := member(raw, "resultType"); string(kind) != `"input_required"` {
		return raw, nil
	}
	if err := askable(raw, q.Client, q.Reach.Connector); err != nil {
		return nil, err
	}
	own, _ := member(raw, "requestState")
	handle, err := c.sealHandle(q.View, purposeState, state{State: own, Call: q.identity()})
	if err != nil {
		return nil, err
	}
	return withMember(raw, "requestState", handle), nil
}
