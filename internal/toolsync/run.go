package toolsync

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/credentials"
	"patchbay/internal/fault"
	"patchbay/internal/mcp"
	"patchbay/internal/safe"
	"patchbay/internal/store"
)

// run is one run that is under way.
type run struct {
	*Syncer
	tenant    connectors.TenantID
	connector connectors.Connector
	id        connectors.SyncRunID
	agent     *connectors.AgentID
	seen      store.Seen
	offer     offer
	trace     mcp.Trace
	known     *mcp.Known // what the server said of itself lately; nil: it is asked
	recalled  bool       // it was not asked
	quiet     bool       // nobody watches its steps
}

// perform takes a started run to its end. Whatever happens in between, it does not stay running.
func (r *run) perform(ctx context.Context) (done connectors.SyncRun, err error) {
	return r.concluded(ctx, time.Now(), func() (connectors.SyncRun, error) {
		r.feed.send(r.tenant, Progress{Connector: r.connector.ID, Run: r.id})
		list, err := r.talk(ctx)
		if err != nil {
			return connectors.SyncRun{}, err
		}
		return step(ctx, "store", func(ctx context.Context) (connectors.SyncRun, error) { return r.save(ctx, list) })
	})
}

// concluded does a part of a run that began, and where it fails or panics stores that as the run's end.
func (r *run) concluded(
	ctx context.Context, began time.Time, do func() (connectors.SyncRun, error),
) (done connectors.SyncRun, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = panicked(p)
		}
		if err != nil {
			f := r.failure(ctx, err)
			done, err = r.close(ctx, r.tenant, r.id, f, r.seen), f
		}
		r.keepRequests(ctx, done)
		r.feed.send(r.tenant, Progress{Connector: r.connector.ID, Run: r.id, Done: true})
		r.logEnd(ctx, done, err, time.Since(began))
	}()
	return do()
}

func panicked(p any) error {
	return fault.Wrap(fault.Internal, safe.Caught(safe.Sync, p), "Something went wrong on our side.")
}

// talk reads the list from the server.
func (r *run) talk(ctx context.Context) (mcp.ToolList, error) {
	budget := r.connector.Timeout*time.Duration(1+r.connector.RetryAttempts) + talkSlack
	ctx, cancel := context.WithTimeout(ctx, budget)
	defer cancel()
	attempts, err := step(ctx, "credential", func(ctx context.Context) ([]attempt, error) {
		return r.plan(ctx, r.tenant, r.connector, r.agent)
	})
	if err != nil {
		return mcp.ToolList{}, err
	}
	for i, a := range attempts {
		list, err := r.insist(ctx, a)
		asks := asksForCredential(err)
		if seen := behaviour(r.connector, a, asks); seen != "" && (err == nil || asks) {
			r.seen.AuthBehaviour = seen
		}
		switch {
		case err == nil:
			r.used(ctx, a)
			return list, nil
		case asks && i+1 < len(attempts):
			continue
		case asks && a.credential == nil && r.connector.Auth.Type != connectors.AuthNone:
			return list, r.credentials.WhyMissing(ctx, r.tenant, r.connector, r.agent)
		default:
			return list, r.explain(ctx, err, a)
		}
	}
	return mcp.ToolList{}, errors.New("a sync without an attempt")
}

func (r *run) explain(ctx context.Context, err error, a attempt) error {
	f := explain(err, r.connector, a.credential != nil)
	if ctx.Err() != nil && f.Code == string(mcp.ReasonTimeout) { // no single answer was late, but all together
		f.Message = "The server took too long for its whole list. Try again, or give the connector a longer timeout."
	}
	return f
}

// converse has one conversation: handshake, list, farewell.
func (r *run) converse(ctx context.Context, a attempt) (mcp.ToolList, error) {
	leave, err := r.seat(ctx, r.tenant, r.connector, a.env)
	if err != nil {
		return mcp.ToolList{}, err
	}
	defer leave()
	session, err := step(ctx, "handshake", func(ctx context.Context) (*mcp.Session, error) { return r.dialer.Dial(ctx, r.target(ctx, a)) })
	if err != nil {
		return mcp.ToolList{}, err
	}
	defer session.Close(ctx)
	r.seen.Server, r.seen.Era = connectors.Server(session.Server()), string(session.Era())
	list, err := listTools(ctx, session)
	if err == nil {
		r.meet(session)
		r.reliesOn(session, list)
		r.offer = r.readItems(ctx, session)
	}
	return list, err
}

func (r *run) target(ctx context.Context, a attempt) mcp.Target {
	t := r.Syncer.target(ctx, r.tenant, r.connector, a)
	t.Trace, t.Known = &r.trace, r.known
	if r.quiet {
		return t
	}
	t.Observe = func(p mcp.Progress) {
		r.feed.send(r.tenant, Progress{
			Connector: r.connector.ID, Run: r.id, Phase: string(p.Phase), Page: p.Page, Tools: p.Tools,
		})
	}
	return t
}

// target is the connector's server as package mcp is told of it.
func (s *Syncer) target(ctx context.Context, tenant connectors.TenantID, c connectors.Connector, a attempt) mcp.Target {
	header := make(http.Header, len(c.Headers)+1)
	for name, value := range c.Headers {
		header.Set(name, value)
	}
	if a.credential != nil {
		credentials.Apply(header, a.credential.Headers)
	}
	return mcp.Target{
		URL:       c.URL,
		Transport: mcp.Transport(c.Transport),
		Header:    header,
		HTTP:      s.clientFor(tenant),
		Timeout:   c.Timeout,
		Retries:   c.RetryAttempts,
		Era:       mcp.Era(c.Era),
		Command:   s.command(ctx, c, a.env),
	}
}

func asksForCredential(err error) bool {
	e, ok := errors.AsType[*mcp.Error](err)
	return ok && e.Reason == mcp.ReasonUnauthorized
}

// used notes that the server took the credential. It is a note: its failure fails no sync.
func (r *run) used(ctx context.Context, a attempt) {
	if a.credential == nil {
		return
	}
	if err := r.credentials.MarkUsed(ctx, r.tenant, a.credential); err != nil {
		r.log.WarnContext(ctx, "credential use not noted", slog.Any("error", err))
	}
}

func (r *run) logEnd(ctx context.Context, done connectors.SyncRun, err error, took time.Duration) {
	attrs := []slog.Attr{
		slog.String("tenant_id", r.tenant.String()),
		slog.String("connector_id", r.connector.ID.String()),
		slog.String("sync_run_id", r.id.String()),
		slog.Int64("duration_ms", took.Milliseconds()),
	}
	if err == nil {
		r.log.LogAttrs(ctx, slog.LevelInfo, "tool sync finished", append(attrs,
			slog.Int("tools", done.Counts.Total), slog.Int("added", done.Counts.Added),
			slog.Int("changed", done.Counts.Changed), slog.Int("removed", done.Counts.Removed))...)
		return
	}
	f, level := fault.As(err), slog.LevelWarn
	if f.Kind == fault.Internal {
		level = slog.LevelError
	}
	r.log.LogAttrs(ctx, level, "tool sync failed", append(attrs, slog.String("reason", code(f)), slog.Any("error", err))...)
}
