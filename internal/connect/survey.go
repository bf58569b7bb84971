package connect

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/oauth"
	"patchbay/internal/safe"
	"patchbay/internal/safehttp"
	"patchbay/internal/tracing"
)

// prepareTimeout bounds everything before the redirect.
const prepareTimeout = 60 * time.Second

// authSurvey is what servers report about connecting an account to a target.
type authSurvey struct {
	hasOthers bool // the owner has accounts of other names; set for a flow
	target
	at           time.Time
	asked        probeResult
	discovery    *oauth.Discovery // never nil
	scopes       []string         // to request
	isRecognised bool             // the server has just recognized our client
}

// surveyServers contacts the MCP server and discovers its authorization server. It stores nothing. With an
// error the survey has the steps so far.
func (b *Broker) surveyServers(ctx context.Context, p target) (authSurvey, error) {
	return tracing.Step(ctx, "oauth discovery", failureClass, func(ctx context.Context) (authSurvey, error) { return b.discoverServer(ctx, p) })
}

func (b *Broker) discoverServer(ctx context.Context, p target) (authSurvey, error) {
	ctx = safehttp.WithTenant(ctx, p.tenant.String())
	if p.connector.Transport == connectors.TransportAPI {
		return b.discoverForAPI(ctx, p)
	}
	s := authSurvey{target: p, at: b.now(), asked: b.probeServer(ctx, p.connector)}
	var err error
	s.discovery, err = b.oauth.Discover(ctx, oauth.Target{
		ServerURL: p.connector.URL, ResourceMetadata: s.asked.resourceMetadata, TakesProofs: s.asked.takesProofs, Overrides: toOverrides(p.connector.OAuth),
	})
	if err != nil {
		return s, err
	}
	s.chooseScopes(b.missingScopes(ctx, p))
	return s, nil
}

// discoverForAPI finds the authorization server of an HTTP API, by the connector's settings. The scopes are those of the settings, or
// of the picked operations.
func (b *Broker) discoverForAPI(ctx context.Context, p target) (authSurvey, error) {
	s := authSurvey{target: p, at: b.now()}
	s.asked.step = oauth.TraceStep{Step: StepProbe, URL: shownURL(p.connector.URL), Decided: "Not probed: the authorization server of an HTTP API comes from the connector's settings."}
	var err error
	s.discovery, err = b.oauth.Discover(ctx, oauth.Target{ServerURL: p.connector.CredentialOrigin(), Overrides: toOverrides(p.connector.OAuth), IsAPI: true})
	if err != nil {
		return s, err
	}
	if s.discovery.ResourceScopes, err = b.tenantStore(p.tenant).APIs().Scopes(ctx, p.connector.ID); err != nil {
		return s, err
	}
	s.chooseScopes(b.missingScopes(ctx, p))
	return s, nil
}

func (s *authSurvey) chooseScopes(wanted []string) {
	s.scopes = s.discovery.Scopes(s.connector.OAuth.Scopes, s.asked.scope)
	if len(wanted) > 0 {
		s.scopes, s.isRecognised = oauth.UnionScopes(s.scopes, wanted), true
	}
}

// surveyOnce is surveyServers for holders of a link, without a sign-in: concurrent calls for one target share a
// result, which bounds the requests to servers. It outlives its caller.
func (b *Broker) surveyOnce(ctx context.Context, p target) (authSurvey, error) {
	name := fmt.Sprintf("survey %s %s %v %q %v %d", p.tenant, p.connector.ID, p.agentID(), p.account, p.accountID, p.connector.Version)
	empty := authSurvey{target: p, at: b.now(), discovery: &oauth.Discovery{}}
	flight := b.flights.DoChan(name, func() (found any, err error) {
		defer safe.RecoverTo(safe.Task, &err)
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), prepareTimeout)
		defer cancel()
		return b.surveyServers(ctx, p)
	})
	select {
	case <-ctx.Done():
		late := &oauth.Error{Step: StepProbe, Kind: oauth.KindTemporary, Detail: "a timeout", Err: ctx.Err()}
		return empty, late
	case done := <-flight:
		found, ok := done.Val.(authSurvey)
		if !ok { // the survey panicked
			found = empty
		}
		return found, done.Err
	}
}

func toOverrides(s connectors.OAuthSettings) oauth.Overrides {
	return oauth.Overrides{
		Issuer: s.Issuer, AuthorizationEndpoint: s.AuthorizationEndpoint, TokenEndpoint: s.TokenEndpoint, Resource: s.Resource,
		TokenEndpointAuthMethod: oauth.AuthMethod(s.TokenEndpointAuthMethod), AllowMissingPKCEMetadata: s.AllowMissingPKCEMetadata,
	}
}

// missingScopes returns the scopes that the resource reported as missing from the current grant: a step-up
// requests them too.
func (b *Broker) missingScopes(ctx context.Context, p target) []string {
	old, err := b.store.Vault(p.tenant).NamedGrant(ctx, p.connector.ID, p.agentID(), p.account)
	switch {
	case fault.Is(err, fault.NotFound):
		return nil
	case err != nil: // connecting again repairs a grant that cannot be opened
		b.log.WarnContext(ctx, "old grant not read", append(p.logAttrs(), slog.Any("error", err))...)
		return nil
	}
	return old.Tokens.Meta.WantedScopes
}

// storeAuthBehaviour stores what the server asks for, if known.
func (b *Broker) storeAuthBehaviour(ctx context.Context, s authSurvey) error {
	if s.asked.behaviour == "" || s.asked.behaviour == s.connector.AuthBehaviour {
		return nil
	}
	return b.tenantStore(s.tenant).Connectors().SetAuthBehaviour(ctx, s.connector.ID, s.asked.behaviour)
}
