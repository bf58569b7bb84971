package connectors

import "time"

// HealthHour is what a connector's syncs of one hour tell of its server. Those that did not ask it, for want of a credential, count
// nowhere.
type HealthHour struct {
	Hour      time.Time     // when it began
	OK        int           // that it answered, be it to refuse a credential
	Failed    int           // the others
	Mean, Max time.Duration // of all of them
}

// Clock is when a connector is synced by itself, and how that goes.
type Clock struct {
	DueAt        *time.Time // nil: never, or not before its credential is mended
	Failures     int        // in a row
	FailingSince *time.Time // nil: the last sync succeeded, or there was none
	CheckedAt    *time.Time // the last sync that ended
	OKAt         *time.Time // the last one that succeeded
}
