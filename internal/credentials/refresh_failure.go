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

// refreshFailure is the consequence of a failed request for its grant.
type refreshFailure struct {
	endReason    string // sentence of a dead grant; empty: retry after delay
	forgetClient bool   // the client is unknown: the next connection registers again
	delay        store.Delay
}

// classifyFailure decides by the kind of failure. Only a response about the grant or the client ends it; other
// failures are retried. lost: an earlier request may have rotated the token without its response arriving.
func classifyFailure(g store.Grant, lost bool, refusal error) refreshFailure {
	if errors.Is(refusal, errOtherAccount) {
		return refreshFailure{endReason: reasonOtherAccount}
	}
	if errors.Is(refusal, errSharedAgent) {
		if g.Tokens.Meta.Exchange != "" {
			return refreshFailure{endReason: store.ReasonSharedExchange}
		}
		return refreshFailure{endReason: store.ReasonSharedAgent}
	}
	failed, ok := errors.AsType[*oauth.Error](refusal)
	if !ok {
		return refreshFailure{delay: localDelay(refusal)}
	}
	if g.Tokens.Meta.Exchange != "" {
		return refreshFailure{delay: store.Delay{Because: exchangeReason(failed), Wait: exchangeDelay(failed)}}
	}
	if g.Member != nil {
		if consequence, ok := classifyManaged(failed); ok {
			return consequence
		}
	}
	if failed.Step == oauth.StepAssertion && g.Tokens.Machine.WorkloadToken != "" && failed.Kind != oauth.KindTemporary {
		return refreshFailure{delay: store.Delay{Because: reasonWorkload, Wait: maxRetryDelay}}
	}
	switch failed.Kind {
	case oauth.KindDead, oauth.KindClient:
		return classifyEnd(g, lost, failed)
	case oauth.KindTemporary:
		wait := min(max(failed.RetryAfter, 2*time.Second), maxRetryDelay)
		return refreshFailure{delay: store.Delay{Because: failed.Sentence(), Wait: wait}}
	case oauth.KindUnknownOutcome, oauth.KindProtocol:
		return refreshFailure{delay: store.Delay{Because: failed.Sentence(), Wait: maxRetryDelay, Lost: !isMachine(g.Type) && g.Member == nil}}
	default:
		return refreshFailure{delay: store.Delay{Because: failed.Sentence(), Wait: maxRetryDelay}}
	}
}

func classifyEnd(g store.Grant, lost bool, failed *oauth.Error) refreshFailure {
	// RFC 6749 section 5.2: the client is known but not allowed
	forbidden := failed.Code == "unauthorized_client"
	switch {
	case isMachine(g.Type) && forbidden:
		return refreshFailure{endReason: reasonNoClientCredentials}
	case g.Type == connectors.AuthClientCredentials:
		return refreshFailure{endReason: reasonSecret}
	case g.Type == connectors.AuthPrivateKeyJWT:
		return refreshFailure{endReason: reasonKey}
	case forbidden:
		return refreshFailure{endReason: reasonNoRefresh}
	case failed.Kind == oauth.KindClient && g.Tokens.Meta.Source == oauth.SourceConfigured:
		return refreshFailure{endReason: reasonConfiguredClient}
	case failed.Kind == oauth.KindClient: // a refresh token is bound to its client
		return refreshFailure{endReason: reasonUnknownClient, forgetClient: true}
	case lost:
		return refreshFailure{endReason: reasonLost}
	default:
		return refreshFailure{endReason: reasonEnded}
	}
}

// localDelay is for failures before the request: a rule of Patchbay, or the database.
func localDelay(err error) store.Delay {
	if f, ok := errors.AsType[*fault.Error](err); ok && f.Kind == fault.Conflict {
		return store.Delay{Because: f.Message, Wait: maxRetryDelay}
	}
	return store.Delay{Because: "Something went wrong on our side.", Wait: time.Second}
}

// storeResult stores the result, and returns the stored grant.
func (r *refreshRun) storeResult(ctx context.Context, g store.Grant, lease store.Lease, result refreshResult) (store.Grant, error) {
	var err error
	switch o := classifyFailure(g, lease.Lost, result.failure); {
	case result.failure == nil:
		_, err = r.vault.SaveRefreshed(ctx, lease, g, result.tokens)
	case o.endReason != "":
		err = r.endGrant(ctx, g, lease, o, result.said)
	default:
		o.delay.Said = result.said
		_, err = r.vault.DelayRefresh(ctx, lease, o.delay)
	}
	if err != nil {
		return g, err
	}
	return r.vault.GrantByID(ctx, g.ID)
}

func (r *refreshRun) endGrant(ctx context.Context, g store.Grant, lease store.Lease, o refreshFailure, said *connectors.Upstream) error {
	if o.forgetClient {
		meta := g.Tokens.Meta
		if err := r.store.Tenant(r.tenant).Accounts().DeleteRegistration(ctx, meta.Server.Issuer, meta.RedirectURI, meta.ClientID); err != nil {
			return err
		}
	}
	_, err := r.vault.EndGrant(ctx, lease, o.endReason, said)
	return err
}

func (r *refreshRun) logResult(ctx context.Context, g store.Grant, refusal error) {
	attrs := []slog.Attr{
		slog.String("tenant_id", r.tenant.String()), slog.String("connector_id", g.ConnectorID.String()),
		slog.String("credential_id", g.ID.String()), slog.Int("version", g.Version),
	}
	if refusal == nil {
		r.log.LogAttrs(ctx, slog.LevelInfo, "access token refreshed", attrs...)
		return
	}
	failed, _ := errors.AsType[*oauth.Error](refusal)
	if failed != nil {
		attrs = append(attrs, slog.String("reason", cmp.Or(failed.Code, string(failed.Kind))))
	}
	r.log.LogAttrs(ctx, slog.LevelWarn, "access token not refreshed", append(attrs, slog.Any("error", refusal))...)
}
