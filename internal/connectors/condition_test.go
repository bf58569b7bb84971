package connectors_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/connectors"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func timeBefore(d time.Duration) *time.Time { return new(noon.Add(-d)) }

// syncedConnector was synced five minutes ago and is due in ten.
func syncedConnector(change ...func(*connectors.Connector)) connectors.Connector {
	c := connectors.Connector{
		Settings:          connectors.Settings{Enabled: true, SyncInterval: 15 * time.Minute, Auth: connectors.Auth{Type: connectors.AuthBearer}},
		ToolsLastSyncedAt: timeBefore(5 * time.Minute),
		Clock:             connectors.Clock{DueAt: timeBefore(-10 * time.Minute)},
	}
	for _, f := range change {
		f(&c)
	}
	return c
}

func withFailure(code string, since time.Duration, failures int) func(*connectors.Connector) {
	return func(c *connectors.Connector) {
		c.LastError = &connectors.SyncError{Code: code, Message: "A sentence.", At: *timeBefore(time.Minute)}
		c.ToolsLastSyncedAt = timeBefore(since + time.Minute)
		c.Clock.Failures, c.Clock.FailingSince = failures, timeBefore(since)
	}
}

func TestHealth_StatesAreIndependent(t *testing.T) {
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
		"all is well":                {syncedConnector(), health{up, ok, fresh}},
		"failing":                    {syncedConnector(withFailure("unreachable", 20*time.Minute, 3)), health{connectors.ReachFailing, ok, fresh}},
		"failing, and the tools old": {syncedConnector(withFailure("timeout", time.Hour, 7)), health{connectors.ReachFailing, ok, connectors.FreshStale}},
		"almost dead":                {syncedConnector(withFailure("timeout", 72*time.Hour-1, 80)), health{connectors.ReachFailing, ok, connectors.FreshStale}},
		"dead for days":              {syncedConnector(withFailure("timeout", 72*time.Hour, 81)), health{connectors.ReachDead, ok, connectors.FreshStale}},
		"a server that refuses the credential answers": {
			syncedConnector(withFailure("unauthorized", 100*time.Hour, 1)), health{up, connectors.AuthStatePerson, connectors.FreshStale},
		},
		"without a credential nothing is asked": {
			syncedConnector(withFailure("credential_required", 10*time.Minute, 1)), health{connectors.ReachUnknown, connectors.AuthStatePerson, fresh},
		},
		"a failure that the clock does not know": {
			syncedConnector(func(c *connectors.Connector) {
				c.LastError = &connectors.SyncError{Code: "internal", At: *timeBefore(time.Minute)}
			}), health{connectors.ReachFailing, ok, fresh},
		},
		"an open server": {
			syncedConnector(func(c *connectors.Connector) { c.Auth.Type = connectors.AuthNone }),
			health{up, connectors.AuthStateNone, fresh},
		},
		"an open server that asks for a credential now": {
			syncedConnector(withFailure("unauthorized", 0, 1), func(c *connectors.Connector) { c.Auth.Type = connectors.AuthNone }),
			health{up, connectors.AuthStatePerson, fresh},
		},
		"it lists openly, and no account is there for calls": {
			syncedConnector(func(c *connectors.Connector) { c.Credentials.NeedsPerson = true }), health{up, connectors.AuthStatePerson, fresh},
		},
		"an account lapses tomorrow": {
			syncedConnector(func(c *connectors.Connector) { c.Credentials.Lapses = timeBefore(-24 * time.Hour) }),
			health{up, connectors.AuthStateLapses, fresh},
		},
		"an account lapses next week": {
			syncedConnector(func(c *connectors.Connector) { c.Credentials.Lapses = timeBefore(-168 * time.Hour) }), health{up, ok, fresh},
		},
		"two intervals old": {
			syncedConnector(func(c *connectors.Connector) { c.ToolsLastSyncedAt = timeBefore(30 * time.Minute) }), health{up, ok, fresh},
		},
		"older than two intervals": {
			syncedConnector(func(c *connectors.Connector) { c.ToolsLastSyncedAt = timeBefore(30*time.Minute + 1) }),
			health{up, ok, connectors.FreshStale},
		},
		"by hand only": {
			syncedConnector(func(c *connectors.Connector) { c.SyncInterval, c.ToolsLastSyncedAt = 0, timeBefore(1000*time.Hour) }),
			health{up, ok, connectors.FreshUnscheduled},
		},
		"disabled": {
			syncedConnector(func(c *connectors.Connector) { c.Enabled, c.ToolsLastSyncedAt = false, timeBefore(1000*time.Hour) }),
			health{up, ok, connectors.FreshUnscheduled},
		},
		"never synced": {
			syncedConnector(func(c *connectors.Connector) { c.ToolsLastSyncedAt = nil }),
			health{connectors.ReachUnknown, ok, connectors.FreshNever},
		},
	} {
		h := tc.connector.Health(noon)
		if diff := cmp.Diff(tc.want, health{h.Reachable.State, h.Authorized.State, h.Fresh.State}); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestHealth_HasTimes(t *testing.T) {
	t.Parallel()
	c := syncedConnector(withFailure("timeout", 80*time.Hour, 90), func(c *connectors.Connector) { c.Credentials.Lapses = timeBefore(-time.Hour) })
	want := connectors.Health{
		Reachable:  connectors.Reachability{State: connectors.ReachDead, Since: timeBefore(80 * time.Hour)},
		Authorized: connectors.Authorization{State: connectors.AuthStateLapses, Ends: timeBefore(-time.Hour)},
		Fresh:      connectors.Freshness{State: connectors.FreshStale, AsOf: timeBefore(80*time.Hour + time.Minute), NextSync: timeBefore(-10 * time.Minute)},
		Failures:   90,
	}
	if diff := cmp.Diff(want, c.Health(noon)); diff != "" {
		t.Error(diff)
	}
}
