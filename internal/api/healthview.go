package api

import (
	"time"

	"patchbay/internal/connectors"
)

type healthJSON struct {
	Reachable  reachableJSON  `json:"reachable"`
	Authorized authorizedJSON `json:"authorized"`
	Fresh      freshJSON      `json:"fresh"`
	Failures   int            `json:"failures" doc:"Consecutive failed syncs."`
}

type reachableJSON struct {
	State string     `json:"state" enum:"unknown,up,failing,dead" doc:"dead: failing for days, now retried rarely."`
	Since *time.Time `json:"since" doc:"For failing and dead: the first failure."`
	Down  bool       `json:"down" doc:"Whether it counts as down by the tenant's down_after_failures and down_after_minutes."`
}

type authorizedJSON struct {
	State  string     `json:"state" enum:"none,ok,lapses_soon,needs_person" doc:"none: no credential needed. needs_person: missing, ended or refused."`
	EndsAt *time.Time `json:"ends_at" doc:"For lapses_soon."`
}

type freshJSON struct {
	State      string     `json:"state" enum:"never,fresh,stale,unscheduled" doc:"stale: older than two intervals; tools are still served. unscheduled: disabled, or synced manually."`
	AsOf       *time.Time `json:"as_of" doc:"Last successful sync."`
	NextSyncAt *time.Time `json:"next_sync_at" doc:"Null if not scheduled, or waiting for a working credential."`
}

func viewHealth(h connectors.Health) healthJSON {
	return healthJSON{
		Reachable:  reachableJSON{State: string(h.Reachable.State), Since: toUTC(h.Reachable.Since), Down: h.Reachable.Down},
		Authorized: authorizedJSON{State: string(h.Authorized.State), EndsAt: toUTC(h.Authorized.Ends)},
		Fresh:      freshJSON{State: string(h.Fresh.State), AsOf: toUTC(h.Fresh.AsOf), NextSyncAt: toUTC(h.Fresh.NextSync)},
		Failures:   h.Failures,
	}
}
