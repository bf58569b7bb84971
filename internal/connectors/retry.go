package connectors

import "time"

// SyncFailure is a failed sync, from which the next attempt is scheduled.
type SyncFailure struct {
	Code       string        // of this failure
	Temporary  bool          // it may pass without action
	RetryAfter time.Duration // requested by the server; 0: none
	Interval   time.Duration // between syncs; 0: only by hand
	Failures   int           // in a row before this one
	FailingFor time.Duration // since the first of them
}

// Delays between attempts.
const (
	minDelay   = 30 * time.Second
	maxBackoff = time.Hour
	deadAfter  = 72 * time.Hour // of failing: from then on deadDelay
	deadDelay  = 6 * time.Hour
)

// Dead reports whether the connector has failed for so long that it is tried rarely.
func (t SyncFailure) Dead() bool { return t.FailingFor >= deadAfter }

// RetryDelay returns the delay until the next attempt; false: none by itself.
//
//	its credential is missing or refused   none until that changes
//	failing for three days                 six hours
//	temporary                              an eighth of the interval, doubled each time, at most an hour
//	else                                   an interval, or longer as above
//
// RetryAfter is honoured up to six hours.
func (t SyncFailure) RetryDelay() (time.Duration, bool) {
	if t.Interval <= 0 || NeedsPerson(t.Code) {
		return 0, false
	}
	if t.Dead() {
		return deadDelay, true
	}
	wait := max(t.Interval/8, minDelay)
	for range min(t.Failures, 10) {
		wait *= 2
	}
	if wait = min(wait, maxBackoff); !t.Temporary {
		wait = max(wait, t.Interval)
	}
	return max(wait, min(t.RetryAfter, deadDelay)), true
}

// NeedsPerson reports whether syncs fail until a person repairs the credential.
func NeedsPerson(code string) bool { return code == "unauthorized" || code == codeCredentialRequired }

// codeCredentialRequired is the code of a sync that sent nothing for want of a credential.
const codeCredentialRequired = "credential_required"
