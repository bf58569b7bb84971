package connectors_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/connectors"
)

// noon is when the connectors below are looked at.
var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func before(d time.Duration) *time.Time { return new(noon.Add(-d)) }

// synced is a connector that was synced five minutes ago and will be in ten.
func synced(change ...func(*connectors.Connector)) connectors.Connector {
	c := connectors.Connector{
		Enabled: true, SyncInterval: 15 * time.Minute, Auth: connectors.Auth{Type: connectors.AuthBearer},
		ToolsLastSyncedAt: before(5 * time.Minute),
		Clock:             connectors.Clock{DueAt: before(-10 * time.Minute)},
		Credentials:       connectors.CredentialsState{Stored: 1},
	}
	for _, f := range change {
		f(&c)
	}
	return c
}

func failed(code string, since time.Duration, failures int) func(*connectors.Connector) {
	return func(c *connectors.Connector) {
		c.LastError = &connectors.SyncError{Code: code, Message: "A sentence.", At: *before(time.Minute)}
		c.ToolsLastSyncedAt = before(since + time.Minute)
		c.Clock.Failures, c.Clock.FailingSince = failures, before(since)
	}
}

func TestReachabilityAuthorizationAndFreshnessAreToldApart(t *testing.T) {
	t.Parallel()
	type health struct {
		Reach connectors.ReachState
		Auth  connectors.AuthState
		Fresh connectors.FreshState
	}
	const up, ok, fresh = connectors.ReachUp, connectors.AuthStateOK, connectors.FreshCurrent
	for name, tc := range map[string]struct {
		connector connectors.Connector
		want      health
	}{
		"all is well":                {synced(), health{up, ok, fresh}},
		"failing":                    {synced(failed("unreachable", 20*time.Minute, 3)), health{connectors.ReachFailing, ok, fresh}},
		"failing, and the tools old": {synced(failed("timeout", time.Hour, 7)), health{connectors.ReachFailing, ok, connectors.FreshStale}},
		"almost dead":                {synced(failed("timeout", 72*time.Hour-1, 80)), health{connectors.ReachFailing, ok, connectors.FreshStale}},
		"dead for days":              {synced(failed("timeout", 72*time.Hour, 81)), health{connectors.ReachDead, ok, connectors.FreshStale}},
		"a server that refuses the credential answers": {
			synced(failed("unauthorized", 100*time.Hour, 1)), health{up, connectors.AuthStatePerson, connectors.FreshStale},
		},
		"without a credential nothing is asked": {
			synced(failed("credential_required", 10*time.Minute, 1)), health{connectors.ReachUnknown, connectors.AuthStatePerson, fresh},
		},
		"a failure that the clock does not know": {
			synced(func(c *connectors.Connector) {
				c.LastError = &connectors.SyncError{Code: "internal", At: *before(time.Minute)}
			}), health{connectors.ReachFailing, ok, fresh},
		},
		"an open server": {
			synced(func(c *connectors.Connector) { c.Auth.Type, c.Credentials.Stored = connectors.AuthNone, 0 }),
			health{up, connectors.AuthStateNone, fresh},
		},
		"an open server that asks for a credential now": {
			synced(failed("unauthorized", 0, 1), func(c *connectors.Connector) { c.Auth.Type = connectors.AuthNone }),
			health{up, connectors.AuthStatePerson, fresh},
		},
		"it lists openly, and no account is there for calls": {
			synced(func(c *connectors.Connector) { c.Credentials.Stored = 0 }), health{up, connectors.AuthStatePerson, fresh},
		},
		"the token of a machine is fetched when it is needed": {
			synced(func(c *connectors.Connector) {
				c.Auth.Type, c.Credentials.Stored = connectors.AuthClientCredentials, 0
			}), health{up, ok, fresh},
		},
		"one of two accounts was revoked": {
			synced(func(c *connectors.Connector) { c.Credentials = connectors.CredentialsState{Stored: 2, Ended: 1} }),
			health{up, connectors.AuthStatePerson, fresh},
		},
		"an account lapses tomorrow": {
			synced(func(c *connectors.Connector) { c.Credentials.Lapses = before(-24 * time.Hour) }),
			health{up, connectors.AuthStateLapses, fresh},
		},
		"an account lapses next week": {
			synced(func(c *connectors.Connector) { c.Credentials.Lapses = before(-168 * time.Hour) }), health{up, ok, fresh},
		},
		"two intervals old": {
			synced(func(c *connectors.Connector) { c.ToolsLastSyncedAt = before(30 * time.Minute) }), health{up, ok, fresh},
		},
		"older than two intervals": {
			synced(func(c *connectors.Connector) { c.ToolsLastSyncedAt = before(30*time.Minute + 1) }),
			health{up, ok, connectors.FreshStale},
		},
		"by hand only": {
			synced(func(c *connectors.Connector) { c.SyncInterval, c.ToolsLastSyncedAt = 0, before(1000*time.Hour) }),
			health{up, ok, connectors.FreshUnscheduled},
		},
		"disabled": {
			synced(func(c *connectors.Connector) { c.Enabled, c.ToolsLastSyncedAt = false, before(1000*time.Hour) }),
			health{up, ok, connectors.FreshUnscheduled},
		},
		"never synced": {
			synced(func(c *connectors.Connector) { c.ToolsLastSyncedAt = nil }),
			health{connectors.ReachUnknown, ok, connectors.FreshNever},
		},
	} {
		h := tc.connector.Health(noon)
		if diff := cmp.Diff(tc.want, health{h.Reachable.State, h.Authorized.State, h.Fresh.State}); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestHealthSaysSinceWhenAndUntilWhen(t *testing.T) {
	t.Parallel()
	c := synced(failed("timeout", 80*time.Hour, 90), func(c *connectors.Connector) { c.Credentials.Lapses = before(-time.Hour) })
	want := connectors.Health{
		Reachable:  connectors.Reachability{State: connectors.ReachDead, Since: before(80 * time.Hour)},
		Authorized: connectors.Authorization{State: connectors.AuthStateLapses, Ends: before(-time.Hour)},
		Fresh:      connectors.Freshness{State: connectors.FreshStale, AsOf: before(80*time.Hour + time.Minute), NextSync: before(-10 * time.Minute)},
		Failures:   90,
	}
	if diff := cmp.Diff(want, c.Health(noon)); diff != "" {
		t.Error(diff)
	}
}
