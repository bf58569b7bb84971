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

// prepareTime bounds everything that happens before a person is sent away.
const prepareTime = 60 * time.Second

// survey is what servers say about how an account is connected at a place.
type survey struct {
	place
	at        time.Time
	asked     asked
	discovery *oauth.Discovery // never nil
	scopes    []string         // to ask for
	sure      bool             // the server knew our client a moment ago: nobody has to ask
}

// survey asks the MCP server, and looks for its authorization server. Nothing is stored. With an error, the survey tells how far it
// came.
func (b *Broker) survey(ctx context.Context, p place) (survey, error) {
	return tracing.Step(ctx, "oauth discovery", failureWord, func(ctx context.Context) (survey, error) { return b.look(ctx, p) })
}

func (b *Broker) look(ctx context.Context, p place) (survey, error) {
	ctx = safehttp.WithTenant(ctx, p.tenant.String())
	s := survey{place: p, at: b.now(), asked: b.ask(ctx, p.connector)}
	var err error
	s.discovery, err = b.oauth.Discover(ctx, oauth.Target{
		ServerURL: p.connector.URL, ResourceMetadata: s.asked.resourceMetadata, Overrides: overrides(p.connector.OAuth),
	})
	if err != nil {
		return s, err
	}
	s.scopes = s.discovery.Scopes(p.connector.OAuth.Scopes, s.asked.scope)
	if wanted := b.wanted(ctx, p); len(wanted) > 0 {
		s.scopes, s.sure = oauth.UnionScopes(s.scopes, wanted), true
	}
	return s, nil
}

// surveyOnce is survey for whoever has a link, and need not sign in: those who ask for the same at once are told the same, so that
// nobody makes us ask servers in a crowd. It does not end with its caller.
func (b *Broker) surveyOnce(ctx context.Context, p place) (survey, error) {
	name := fmt.Sprintf("survey %s %s %v %d", p.tenant, p.connector.ID, p.agentID(), p.connector.Version)
	empty := survey{place: p, at: b.now(), discovery: &oauth.Discovery{}}
	flight := b.flights.DoChan(name, func() (found any, err error) {
		defer safe.RecoverTo(safe.Task, &err)
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), prepareTime)
		defer cancel()
		return b.survey(ctx, p)
	})
	select {
	case <-ctx.Done():
		late := &oauth.Error{Step: StepAsk, Kind: oauth.KindTemporary, Detail: "no whole answer in time", Err: ctx.Err()}
		return empty, late
	case done := <-flight:
		found, ok := done.Val.(survey)
		if !ok { // the survey panicked
			found = empty
		}
		return found, done.Err
	}
}

func overrides(s connectors.OAuthSettings) oauth.Overrides {
	return oauth.Overrides{
		Issuer: s.Issuer, AuthorizationEndpoint: s.AuthorizationEndpoint, TokenEndpoint: s.TokenEndpoint, Resource: s.Resource,
		TokenEndpointAuthMethod: oauth.AuthMethod(s.TokenEndpointAuthMethod), AllowMissingPKCEMetadata: s.AllowMissingPKCEMetadata,
	}
}

// wanted are the scopes that the resource said are missing from the grant that is there: a step-up asks for them, too.
func (b *Broker) wanted(ctx context.Context, p place) []string {
	old, err := b.store.Vault(p.tenant).Grant(ctx, p.connector.ID, p.agentID())
	switch {
	case fault.Is(err, fault.NotFound):
		return nil
	case err != nil: // a grant that cannot be opened is what connecting anew mends
		b.log.WarnContext(ctx, "old grant not read", append(p.attrs(), slog.Any("error", err))...)
		return nil
	}
	return old.Tokens.Meta.WantedScopes
}

// learn stores what the server asks for, where that is known now.
func (b *Broker) learn(ctx context.Context, s survey) error {
	if s.asked.behaviour == "" || s.asked.behaviour == s.connector.AuthBehaviour {
		return nil
	}
	return b.tenant(s.tenant).SetAuthBehaviour(ctx, s.connector.ID, s.asked.behaviour)
}
