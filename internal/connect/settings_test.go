package connect_test

import (
	"testing"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/oauth/oauthtest"
)

func TestFinish_SettingsChangedDuringExchange(t *testing.T) {
	t.Parallel()
	elsewhere := "https://elsewhere.example"
	for name, test := range map[string]struct {
		before, change func(*bundle, *connectors.OAuthSettings)
	}{
		"issuer":                 {change: func(_ *bundle, s *connectors.OAuthSettings) { s.Issuer = elsewhere }},
		"authorization endpoint": {change: func(_ *bundle, s *connectors.OAuthSettings) { s.AuthorizationEndpoint = elsewhere }},
		"token endpoint":         {change: func(_ *bundle, s *connectors.OAuthSettings) { s.TokenEndpoint = elsewhere }},
		"resource":               {change: func(_ *bundle, s *connectors.OAuthSettings) { s.Resource = &elsewhere }},
		"no resource":            {change: func(_ *bundle, s *connectors.OAuthSettings) { s.Resource = new(string) }},
		"client id":              {change: func(_ *bundle, s *connectors.OAuthSettings) { s.ClientID = "by hand" }},
		"issuer, set no more": {
			before: func(b *bundle, s *connectors.OAuthSettings) { s.Issuer = b.as.Issuer },
			change: func(_ *bundle, s *connectors.OAuthSettings) { s.Issuer = "" },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			hold := make(chan struct{})
			b := newBundle(t, oauthtest.Behaviour{Hold: hold}, oauthtest.ResourceBehaviour{})
			c := b.protected(t, func(d *connectors.Draft) {
				if test.before != nil {
					test.before(b, &d.OAuth)
				}
			})
			back := b.agree(t, b.start(t, c, nil))
			ended := make(chan error, 1)
			go func() {
				_, err := b.broker.Finish(t.Context(), back, b.browser())
				ended <- err
			}()
			<-b.as.Arrived(oauthtest.Exchange)
			b.change(t, c, func(d *connectors.Draft) { test.change(b, &d.OAuth) })
			close(hold)
			wantFault(t, <-ended, fault.Malformed, "")
			if n := b.count(t, "credentials") + b.count(t, "sync_runs"); n != 0 {
				t.Errorf("%d rows", n)
			}
			if n := b.as.Count(oauthtest.Revoke); n != 1 {
				t.Errorf("given back %d times", n)
			}
		})
	}
}

// A change that is not committed yet is waited for.
func TestFinish_LocksSettings(t *testing.T) {
	t.Parallel()
	b := newBundle(t, oauthtest.Behaviour{}, oauthtest.ResourceBehaviour{})
	c := b.protected(t)
	back := b.agree(t, b.start(t, c, nil))
	change, err := b.owner(t).Begin(t.Context())
	must(t, err)
	_, err = change.Exec(t.Context(), `update connectors set oauth = '{"issuer": "https://elsewhere.example"}' where id = $1`, c.ID)
	must(t, err)
	ended := make(chan error, 1)
	go func() {
		_, err := b.broker.Finish(t.Context(), back, b.browser())
		ended <- err
	}()
	watch := b.owner(t)
	for waits := false; !waits; {
		select {
		case err := <-ended:
			t.Fatalf("it did not wait: %v", err)
		case <-time.After(5 * time.Millisecond):
		}
		must(t, watch.QueryRow(t.Context(), `
			select exists (select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock')`).Scan(&waits))
	}
	must(t, change.Commit(t.Context()))
	wantFault(t, <-ended, fault.Malformed, "")
	if n := b.count(t, "credentials"); n != 0 {
		t.Errorf("%d grants", n)
	}
}

// What a flow was started with is compared, too: its row may have gone before the change looked for it.
func TestFinish_ChecksSettingsBeforeExchange(t *testing.T) {
	t.Parallel()
	elsewhere := "https://elsewhere.example"
	for name, change := range map[string]func(*connectors.OAuthSettings){
		"issuer":                 func(s *connectors.OAuthSettings) { s.Issuer = elsewhere },
		"authorization endpoint": func(s *connectors.OAuthSettings) { s.AuthorizationEndpoint = elsewhere },
		"token endpoint":         func(s *connectors.OAuthSettings) { s.TokenEndpoint = elsewhere },
		"resource":               func(s *connectors.OAuthSettings) { s.Resource = &elsewhere },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBundle(t, oauthtest.Behaviour{}, oauthtest.ResourceBehaviour{})
			c := b.protected(t)
			back := b.agree(t, b.start(t, c, nil))
			b.change(t, c, func(d *connectors.Draft) { change(&d.OAuth) })
			_, err := b.broker.Finish(t.Context(), back, b.browser())
			wantFault(t, err, fault.Malformed, "")
			b.wantNothing(t, c)
		})
	}
}
