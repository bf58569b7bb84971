package connectors

import "time"

// Trouble is what decides when a connector whose sync failed is tried again by itself.
type Trouble struct {
	Code       string        // of this failure
	Temporary  bool          // it may pass by itself
	RetryAfter time.Duration // that the server asked for; 0: it did not
	Interval   time.Duration // of its syncs; 0: never by itself
	Failures   int           // before this one, in a row
	Failing    time.Duration // since the first of them
}

// DeadAfter is how long a connector fails before it counts as dead, and people are told that it is down.
const DeadAfter = 72 * time.Hour

// How long a failing connector is left alone.
const (
	firstTry  = 30 * time.Second // at least
	longTry   = time.Hour        // what a backoff grows to
	deadAfter = DeadAfter        // of failing; from then on it is asked seldom
	deadTry   = 6 * time.Hour
)

// Dead tells whether the connector has failed for so long that it is asked seldom.
func (t Trouble) Dead() bool { return t.Failing >= deadAfter }

// Wait is how long the connector is left alone; false: until a person has mended its credential, or for ever.
//
//	its credential is missing or refused   until that changes
//	failing for three days                 six hours
//	it may pass by itself                  an eighth of the interval, then twice as long each time, an hour at most
//	else                                   an interval, or longer as above
//
// What the server asks for is waited for, up to six hours.
func (t Trouble) Wait() (time.Duration, bool) {
	if t.Interval <= 0 || NeedsPerson(t.Code) {
		return 0, false
	}
	if t.Dead() {
		return deadTry, true
	}
	wait := max(t.Interval/8, firstTry)
	for range min(t.Failures, 10) {
		wait *= 2
	}
	if wait = min(wait, longTry); !t.Temporary {
		wait = max(wait, t.Interval)
	}
	return max(wait, min(t.RetryAfter, deadTry)), true
}

// NeedsPerson tells whether a sync that failed so is pointless until somebody has mended the credential.
func NeedsPerson(code string) bool { return code == "unauthorized" || code == codeCredentialRequired }

// codeCredentialRequired is the code of a sync that had no credential to send, and sent nothing.
const codeCredentialRequired = "credential_required"
