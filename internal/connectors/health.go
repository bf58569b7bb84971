package connectors

import "time"

// HealthHour summarizes one hour of a connector's syncs. Syncs without a credential sent no request and are not
// counted.
type HealthHour struct {
	Hour      time.Time // start of the hour
	OK        int       // the server responded, or refused a credential
	Failed    int
	Mean, Max time.Duration // of all
}

// Clock is a connector's sync schedule and its state.
type Clock struct {
	DueAt        *time.Time // nil: never, or not before its credential is repaired
	Failures     int        // in a row
	FailingSince *time.Time // nil: the last sync succeeded, or there was none
	CheckedAt    *time.Time // end of the last sync
	OKAt         *time.Time // of the last success
	Down         bool       // the failures in a row count as down by the tenant's settings
}
