package connect_test

import (
	"testing"

	"patchbay/internal/connect"
	"patchbay/internal/fault"
	"patchbay/internal/oauth/oauthtest"
)

func TestStart_QuotesAFailedDiscovery(t *testing.T) {
	t.Parallel()
	b := newBundle(t, oauthtest.Behaviour{WellKnown: oauthtest.Failing}, oauthtest.ResourceBehaviour{})
	c := b.protected(t)
	_, err := b.broker.Start(t.Context(), b.person(t, b.Tenant, "admin"), connect.StartRequest{Connector: ref(c.ID), Browser: cookie})
	f := faultOf(t, err, fault.Upstream, "http_status")
	if f.Remote.Said != "down" || f.Remote.HTTPStatus != 503 {
		t.Errorf("%+v", f.Remote)
	}
}

// The visitor of a link is no member.
func TestFinish_TheVisitorOfALinkGetsNoQuote(t *testing.T) {
	t.Parallel()
	b := newBundle(t, oauthtest.Behaviour{}, oauthtest.ResourceBehaviour{})
	token := b.link(t, b.protected(t), nil, "")
	s, err := b.broker.AcceptLink(t.Context(), token, cookie)
	must(t, err)
	back := b.agree(t, s)
	b.as.Set(func(as *oauthtest.Behaviour) { as.Token = oauthtest.DeadGrant })
	_, err = b.broker.Finish(t.Context(), back, connect.BrowserBindings{Cookie: cookie})
	if f := faultOf(t, err, fault.Upstream, "invalid_grant"); f.Remote.Said != "" {
		t.Errorf("%+v", f.Remote)
	}
}
