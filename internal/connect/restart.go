package connect

import (
	"context"
	"errors"

	"patchbay/internal/auth"
	"patchbay/internal/fault"
	"patchbay/internal/oauth"
	"patchbay/internal/store"
)

// Bounds of restarting one connection: without the scope that is refused most, then without any; and once with
// another client.
const (
	maxNarrowed   = 2
	maxRegistered = 1
)

// errClientGone means that the flow's client is no longer in use: the server forgot it, or an admin entered
// another.
var errClientGone = errors.New("the flow's client is no longer in use")

// callbackFlow is a flow with its callback.
type callbackFlow struct {
	target
	flow  store.Flow
	try   int
	actor *auth.Actor // signed-in actor; nil: none
}

// restartFlow restarts a connection in the same browser with fewer scopes or another client, or explains why it
// ended.
func (b *Broker) restartFlow(ctx context.Context, back callbackFlow, refusal error) (Connection, error) {
	f := back.flow
	scopes, most := f.Scopes, maxRegistered
	ok := true
	if isScopeError(refusal) {
		scopes, ok = narrowScopes(back)
		most = maxNarrowed
	}
	if !ok || back.try >= most {
		return Connection{}, b.explainEnd(refusal)
	}
	s := authSurvey{
		target: back.target, at: b.now(), scopes: scopes, discovery: &oauth.Discovery{Server: f.Server, Resource: f.Resource}, isRecognised: true,
	}
	d, err := b.buildFlow(ctx, s, flowRequest{by: f.StartedBy, returnTo: f.ReturnTo, replaces: f.Replaces, try: back.try + 1, browserHash: f.BrowserHash})
	if err != nil {
		return Connection{}, err
	}
	started, err := b.storeFlow(ctx, d)
	if err != nil {
		return Connection{}, err
	}
	done := back.toFinished()
	done.Restarted = &started
	return done, nil
}

// narrowScopes returns fewer scopes. Scopes set by an admin are never dropped entirely: the refusal must be
// reported.
func narrowScopes(back callbackFlow) ([]string, bool) {
	fewer, ok := oauth.NarrowScopes(back.flow.Scopes)
	if len(fewer) == 0 && len(back.connector.OAuth.Scopes) > 0 {
		return nil, false
	}
	return fewer, ok
}

func (b *Broker) explainEnd(refusal error) error {
	if errors.Is(refusal, errClientGone) {
		return fault.Wrap(fault.Conflict, refusal, "Our client registration has changed. Reconnect.")
	}
	return b.toFault(refusal)
}
