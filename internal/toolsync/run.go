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
	"patchbay/internal/safehttp"
	"patchbay/internal/store"
)

// run is an active sync run.
type run struct {
	*Syncer
	tenant           connectors.TenantID
	connector        connectors.Connector
	id               connectors.SyncRunID
	agent            *connectors.AgentID
	observation      store.ServerObservation
	items            serverItems
	skills           serverSkills
	icon             serverIcon
	trace            mcp.Trace
	cachedInfo       *mcp.CachedServerInfo // server info of an earlier sync; nil: request it
	usedCachedInfo   bool                  // cachedInfo replaced the request
	suppressProgress bool                  // no watcher sees its steps
}

// listAndStore performs a started run. It always ends the run.
func (r *run) listAndStore(ctx context.Context) (done connectors.SyncRun, err error) {
	return r.runAndRecord(ctx, time.Now(), func() (connectors.SyncRun, error) {
		r.feed.send(r.tenant, Progress{Connector: r.connector.ID, Run: r.id})
		list, err := r.fetchTools(ctx)
		if err == nil && errors.Is(context.Cause(ctx), errCancelled) {
			err = errCancelled
		}
		if err != nil {
			return connectors.SyncRun{}, err
		}
		return traceStep(ctx, "store", func(ctx context.Context) (connectors.SyncRun, error) { return r.saveTools(ctx, list) })
	})
}

// runAndRecord runs do as a part of a started run. If do fails or panics it stores that as the run's end.
func (r *run) runAndRecord(
	ctx context.Context, began time.Time, do func() (connectors.SyncRun, error),
) (done connectors.SyncRun, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = panicError(p)
		}
		if err != nil {
			var cancelled bool
			if done, cancelled = r.endCancelled(ctx, err); cancelled {
				err = store.ErrSyncCancelled()
			} else {
				f := r.classifyFailure(ctx, err)
				done, err = r.recordFailure(ctx, r.tenant, r.id, f, r.observation), f
			}
		}
		r.storeRequests(ctx, done)
		r.feed.send(r.tenant, Progress{Connector: r.connector.ID, Run: r.id, Done: true})
		r.logFinished(ctx, done, err, time.Since(began))
	}()
	return do()
}

func panicError(p any) error {
	return fault.Wrap(fault.Internal, safe.Caught(safe.Sync, p), "Something went wrong on our side.")
}

// fetchTools lists the tools with each planned credential until one is accepted.
func (r *run) fetchTools(ctx context.Context) (mcp.ToolList, error) {
	budget := r.connector.Timeout*time.Duration(1+r.connector.RetryAttempts) + sessionSlack
	ctx, cancel := context.WithTimeout(ctx, budget)
	defer cancel()
	attempts, err := traceStep(ctx, "credential", func(ctx context.Context) ([]attempt, error) {
		return r.planAttempts(ctx, r.tenant, r.connector, r.agent)
	})
	if err != nil {
		return mcp.ToolList{}, r.addTokenSaid(ctx, r.tenant, r.connector, err)
	}
	for i, a := range attempts {
		list, err := r.listWithRefresh(ctx, a)
		unauthorized := isUnauthorized(err)
		if behaviour := authBehaviour(r.connector, a, unauthorized); behaviour != "" && (err == nil || unauthorized) {
			r.observation.AuthBehaviour = behaviour
		}
		switch {
		case err == nil:
			r.markUsed(ctx, a)
			return list, nil
		case unauthorized && i+1 < len(attempts):
			continue
		case unauthorized && a.credential == nil && r.connector.Auth.Type != connectors.AuthNone:
			return list, r.explainMissing(ctx, err)
		default:
			return list, r.explainAttempt(ctx, err, a)
		}
	}
	return mcp.ToolList{}, errors.New("a sync without an attempt")
}

// explainMissing explains a request without a credential that the server refused, with what the server said where
// nothing is known of an account that ended.
func (r *run) explainMissing(ctx context.Context, refusal error) error {
	var err error
	if r.connector.CredentialMode == connectors.CredentialPerAgent && r.agent != nil {
		var account credentials.Account
		if account, _, err = r.agentAccount(ctx, r.tenant, r.connector, *r.agent); err == nil {
			err = r.credentials.ExplainMissing(ctx, r.tenant, r.connector, account)
		}
	} else {
		err = r.credentials.ExplainMissingForSync(ctx, r.tenant, r.connector)
	}
	f, ok := errors.AsType[*fault.Error](err)
	if remote, source, found := credentials.FindRemote(refusal); ok && found && f.Remote == nil {
		remote.Phase, remote.Said = phaseSignIn, r.credentials.Excerpt(ctx, r.tenant, r.connector, source, credentials.UsedSecrets{})
		f.Remote = &remote
	}
	return err
}

func (r *run) explainAttempt(ctx context.Context, err error, a attempt) error {
	f := explainError(err, r.connector, a.credential != nil)
	if ctx.Err() != nil && f.Code == string(mcp.ReasonTimeout) { // the run's budget ended, not that of one response
		f.Message = "The server took too long to list everything. Try again, or increase the connector's timeout."
	}
	r.addSaid(ctx, r.tenant, r.connector, a, f)
	return r.addTokenSaid(ctx, r.tenant, r.connector, f)
}

// listOnce opens a session, lists tools and items, and closes it.
func (r *run) listOnce(ctx context.Context, a attempt) (mcp.ToolList, error) {
	release, err := r.acquireSyncProgram(ctx, r.tenant, r.connector, a.env)
	if err != nil {
		return mcp.ToolList{}, err
	}
	defer release()
	session, err := traceStep(ctx, "handshake", func(ctx context.Context) (*mcp.Session, error) {
		return r.dialer.Dial(ctx, r.newObservedTarget(ctx, a))
	})
	if err != nil {
		return mcp.ToolList{}, err
	}
	defer session.Close(ctx)
	r.observation.Server, r.observation.Era = connectors.Server(session.Server()), string(session.Era())
	list, err := listTools(ctx, session)
	if err == nil {
		r.recordServer(session)
		r.recordServerInfoTTL(session, list)
		r.items = r.readItems(ctx, session, r.connector)
		r.skills = r.readSkills(ctx, session, r.connector)
	}
	return list, err
}

func (r *run) newObservedTarget(ctx context.Context, a attempt) mcp.Target {
	t := r.Syncer.newTarget(ctx, r.tenant, r.connector, a)
	t.Trace, t.Known = &r.trace, r.cachedInfo
	if r.suppressProgress {
		return t
	}
	t.Observe = func(p mcp.Progress) {
		r.feed.send(r.tenant, Progress{
			Connector: r.connector.ID, Run: r.id, Phase: string(p.Phase), Page: p.Page, Tools: p.Tools,
		})
	}
	return t
}

// newTarget describes the connector's server to package mcp.
func (s *Syncer) newTarget(ctx context.Context, tenant connectors.TenantID, c connectors.Connector, a attempt) mcp.Target {
	header := make(http.Header, len(c.Headers)+1)
	for name, value := range c.Headers {
		header.Set(name, value)
	}
	var keys []credentials.Header
	if a.credential != nil {
		keys = a.credential.Headers
		credentials.Apply(header, keys)
	}
	t := mcp.Target{
		URL:       c.URL,
		Transport: mcp.Transport(c.Transport),
		Header:    header,
		HTTP:      credentials.ProvingClient(safehttp.WithConnectTimeout(s.clientFor(tenant), c.ConnectTimeout), keys),
		Timeout:   c.Timeout,
		Retries:   c.RetryAttempts,
		Backoff:   c.RetryBackoff,
		Era:       mcp.Era(c.Era),
		Command:   s.newCommand(ctx, c, a.env),

		MaxResponse:  c.ResponseBytes,
		Reconnects:   &c.Reconnects,
		Capabilities: syncCapabilities,
	}
	if c.Transport == connectors.TransportAPI {
		s.useAPI(&t, tenant, c, keys)
	}
	return t
}

func isUnauthorized(err error) bool {
	e, ok := errors.AsType[*mcp.Error](err)
	return ok && e.Reason == mcp.ReasonUnauthorized
}

// markUsed records that the server accepted the credential. A failure does not fail the sync.
func (r *run) markUsed(ctx context.Context, a attempt) {
	if a.credential == nil {
		return
	}
	if err := r.credentials.MarkUsed(ctx, r.tenant, a.credential); err != nil {
		r.log.WarnContext(ctx, "credential use not recorded", slog.Any("error", err))
	}
}

func (r *run) logFinished(ctx context.Context, done connectors.SyncRun, err error, took time.Duration) {
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
	switch {
	case f.Type == store.TypeSyncCancelled:
		r.log.LogAttrs(ctx, slog.LevelInfo, "tool sync cancelled", attrs...)
		return
	case f.Kind == fault.Internal:
		level = slog.LevelError
	}
	r.log.LogAttrs(ctx, level, "tool sync failed", append(attrs, slog.String("reason", errorCode(f)), slog.Any("error", err))...)
}
