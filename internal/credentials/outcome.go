package credentials

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/oauth"
	"patchbay/internal/store"
)

// outcome is what a failed request means for its grant.
type outcome struct {
	ends   string // a sentence: the grant is dead; empty: it is tried again after delay
	forget bool   // our client is unknown: the next connection registers anew
	delay  store.Delay
}

// judge decides by the kind of the failure. Only what the authorization server says of the grant or of the client ends anything: a
// token that could not be had may be had later. lost: a request before this one may have had an effect that nobody heard of.
func judge(g store.Grant, lost bool, refusal error) outcome {
	failed, ok := errors.AsType[*oauth.Error](refusal)
	if !ok {
		return outcome{delay: ourOwn(refusal)}
	}
	switch failed.Kind {
	case oauth.KindDead, oauth.KindClient:
		return ended(g, lost, failed)
	case oauth.KindTemporary:
		wait := min(max(failed.RetryAfter, 2*time.Second), longestWait)
		return outcome{delay: store.Delay{Because: failed.Sentence(), Wait: wait}}
	case oauth.KindUnknownOutcome, oauth.KindProtocol:
		return outcome{delay: store.Delay{Because: failed.Sentence(), Wait: longestWait, Lost: !isMachine(g.Type)}}
	default:
		return outcome{delay: store.Delay{Because: failed.Sentence(), Wait: longestWait}}
	}
}

func ended(g store.Grant, lost bool, failed *oauth.Error) outcome {
	// The client is known, and may not do this (RFC 6749 §5.2).
	forbidden := failed.Code == "unauthorized_client"
	switch {
	case isMachine(g.Type) && forbidden:
		return outcome{ends: becauseNoMachine}
	case g.Type == connectors.AuthClientCredentials:
		return outcome{ends: becauseSecret}
	case g.Type == connectors.AuthPrivateKeyJWT:
		return outcome{ends: becauseKey}
	case forbidden:
		return outcome{ends: becauseNoRefresh}
	case failed.Kind == oauth.KindClient && g.Tokens.Meta.Source == oauth.SourceConfigured:
		return outcome{ends: becauseConfigured}
	case failed.Kind == oauth.KindClient: // a refresh token works for its client only
		return outcome{ends: becauseForgotten, forget: true}
	case lost:
		return outcome{ends: becauseLost}
	default:
		return outcome{ends: becauseEnded}
	}
}

// ourOwn is for failures before anything was asked: a rule of ours with its sentence, or the database.
func ourOwn(err error) store.Delay {
	if f, ok := errors.AsType[*fault.Error](err); ok && f.Kind == fault.Conflict {
		return store.Delay{Because: f.Message, Wait: longestWait}
	}
	return store.Delay{Because: "Something went wrong on our side.", Wait: time.Second}
}

// settle stores what came of a request, and reads back what is stored now.
func (r *renewal) settle(ctx context.Context, g store.Grant, lease store.Lease, came result) (store.Grant, error) {
	var err error
	switch o := judge(g, lease.Lost, came.refusal); {
	case came.refusal == nil:
		_, err = r.vault.SaveRefreshed(ctx, lease, g, came.tokens)
	case o.ends != "":
		err = r.end(ctx, g, lease, o)
	default:
		_, err = r.vault.DelayRefresh(ctx, lease, o.delay)
	}
	if err != nil {
		return g, err
	}
	return r.vault.Grant(ctx, g.ConnectorID, g.AgentID)
}

func (r *renewal) end(ctx context.Context, g store.Grant, lease store.Lease, o outcome) error {
	if o.forget {
		meta := g.Tokens.Meta
		if err := r.store.Tenant(r.tenant).ForgetRegistration(ctx, meta.Server.Issuer, meta.RedirectURI, meta.ClientID); err != nil {
			return err
		}
	}
	_, err := r.vault.EndGrant(ctx, lease, o.ends)
	return err
}

func (r *renewal) note(ctx context.Context, g store.Grant, refusal error) {
	attrs := []slog.Attr{
		slog.String("tenant_id", r.tenant.String()), slog.String("connector_id", g.ConnectorID.String()),
		slog.String("credential_id", g.ID.String()), slog.Int("version", g.Version),
	}
	if refusal == nil {
		r.log.LogAttrs(ctx, slog.LevelInfo, "access token renewed", attrs...)
		return
	}
	failed, _ := errors.AsType[*oauth.Error](refusal)
	if failed != nil {
		attrs = append(attrs, slog.String("reason", cmp.Or(failed.Code, string(failed.Kind))))
	}
	r.log.LogAttrs(ctx, slog.LevelWarn, "access token not renewed", append(attrs, slog.Any("error", refusal))...)
}
