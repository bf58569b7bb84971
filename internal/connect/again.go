package connect

import (
	"context"
	"errors"

	"patchbay/internal/auth"
	"patchbay/internal/fault"
	"patchbay/internal/oauth"
	"patchbay/internal/store"
)

// How often one connection is begun anew by itself: without the scope that is refused most, then without any; and once with
// another client.
const (
	maxNarrowed   = 2
	maxRegistered = 1
)

// errClientGone says that the client that a flow was started with is not ours any more: another flow found it forgotten by the
// server, or an admin has entered one.
var errClientGone = errors.New("the client of the flow is not the one in use any more")

// returning is a flow whose browser came back.
type returning struct {
	place
	flow   store.Flow
	try    int
	person *auth.Actor // who is signed in there; nil: nobody
}

// again begins a connection anew for the same browser, where less or another client may do; else it explains why it ended.
func (b *Broker) again(ctx context.Context, back returning, refusal error) (Finished, error) {
	f := back.flow
	scopes, most := f.Scopes, maxRegistered
	ok := true
	if isScope(refusal) {
		scopes, ok = narrowed(back)
		most = maxNarrowed
	}
	if !ok || back.try >= most {
		return Finished{}, b.ended(refusal)
	}
	s := survey{
		place: back.place, at: b.now(), scopes: scopes, discovery: &oauth.Discovery{Server: f.Server, Resource: f.Resource}, sure: true,
	}
	d, err := b.draw(ctx, s, departing{by: f.StartedBy, returnTo: f.ReturnTo, try: back.try + 1, browserHash: f.BrowserHash})
	if err != nil {
		return Finished{}, err
	}
	started, err := b.depart(ctx, d)
	if err != nil {
		return Finished{}, err
	}
	done := back.finished()
	done.Again = &started
	return done, nil
}

// narrowed is less to ask for. What an admin has set is never dropped as a whole: they have to hear that it is refused.
func narrowed(back returning) ([]string, bool) {
	fewer, ok := oauth.NarrowScopes(back.flow.Scopes)
	if len(fewer) == 0 && len(back.connector.OAuth.Scopes) > 0 {
		return nil, false
	}
	return fewer, ok
}

func (b *Broker) ended(refusal error) error {
	if errors.Is(refusal, errClientGone) {
		return fault.Wrap(fault.Conflict, refusal, "Our client at the authorization server has changed meanwhile. Connect again.")
	}
	return b.explain(refusal)
}
