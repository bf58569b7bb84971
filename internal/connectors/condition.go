package connectors

import "time"

// Health is how a connector is. Whether its server answers, whether it lets us in, and how old the served tools are, are three
// things: a server that refuses our credential is up, and tools stay served while it is down.
type Health struct {
	Reachable  Reachability
	Authorized Authorization
	Fresh      Freshness
	Failures   int // syncs in a row that failed, whatever the reason
}

// ReachState says whether a connector's server answers as it should.
type ReachState string

// The reach states.
const (
	ReachUnknown ReachState = "unknown" // never asked, or not without a credential
	ReachUp      ReachState = "up"
	ReachFailing ReachState = "failing"
	ReachDead    ReachState = "dead" // failing for days, and asked seldom
)

// Reachability says whether a connector's server answers as it should.
type Reachability struct {
	State ReachState
	Since *time.Time // of failing and dead: the first failure; else nil
}

// AuthState says whether a connector's server lets us in.
type AuthState string

// The auth states.
const (
	AuthStateNone   AuthState = "none" // no credential is needed
	AuthStateOK     AuthState = "ok"
	AuthStateLapses AuthState = "lapses_soon"  // and nobody but a person can renew it
	AuthStatePerson AuthState = "needs_person" // one is missing, has ended, or was refused
)

// Authorization says whether a connector's server lets us in.
type Authorization struct {
	State AuthState
	Ends  *time.Time // of lapses_soon; else nil
}

// FreshState says how old the served tools are.
type FreshState string

// The fresh states.
const (
	FreshNever       FreshState = "never" // there was no successful sync
	FreshCurrent     FreshState = "fresh"
	FreshStale       FreshState = "stale"       // older than two intervals
	FreshUnscheduled FreshState = "unscheduled" // nobody expects the next sync: it is disabled, or synced by hand only
)

// Freshness says how old the served tools are.
type Freshness struct {
	State    FreshState
	AsOf     *time.Time // the last successful sync; nil: never
	NextSync *time.Time // by itself; nil: never, or not before a person has mended the credential
}

// CredentialsState is what a connector's credentials are like, all of its agents' together.
type CredentialsState struct {
	Stored int
	Ended  int        // of them: expired or revoked
	Lapses *time.Time // when the first of the others ends that only a person can renew; nil: none does
}

// lapsesWithin is how far ahead an end is foretold.
const lapsesWithin = 72 * time.Hour

// Health tells how the connector is at a time.
func (c Connector) Health(now time.Time) Health {
	return Health{Reachable: c.reachable(now), Authorized: c.authorized(now), Fresh: c.fresh(now), Failures: c.Clock.Failures}
}

func (c Connector) reachable(now time.Time) Reachability {
	switch {
	case c.LastError == nil && c.ToolsLastSyncedAt == nil:
		return Reachability{State: ReachUnknown}
	case c.LastError == nil:
		return Reachability{State: ReachUp}
	}
	if state := ReachedBy(c.LastError.Code); state != ReachFailing {
		return Reachability{State: state}
	}
	since := c.Clock.FailingSince
	if since == nil { // a sync that never began says nothing in the clock
		since = &c.LastError.At
	}
	if (Trouble{Failing: now.Sub(*since)}).Dead() {
		return Reachability{State: ReachDead, Since: since}
	}
	return Reachability{State: ReachFailing, Since: since}
}

// ReachedBy is what a sync that failed tells of the server, by the failure's code: up, where it answered and refused a credential;
// unknown, where it was not asked for want of one; else failing.
func ReachedBy(code string) ReachState {
	switch {
	case code == codeCredentialRequired:
		return ReachUnknown
	case NeedsPerson(code):
		return ReachUp
	}
	return ReachFailing
}

func (c Connector) authorized(now time.Time) Authorization {
	held := c.Credentials
	switch {
	case c.LastError != nil && NeedsPerson(c.LastError.Code):
		return Authorization{State: AuthStatePerson}
	case c.Auth.Type == AuthNone:
		return Authorization{State: AuthStateNone}
	case held.Ended > 0, held.Stored == 0 && c.Auth.Type.givenByPerson():
		return Authorization{State: AuthStatePerson}
	case held.Lapses != nil && held.Lapses.Sub(now) < lapsesWithin:
		return Authorization{State: AuthStateLapses, Ends: held.Lapses}
	}
	return Authorization{State: AuthStateOK}
}

// givenByPerson tells whether a credential is there only after a person gave it. The tokens of machines are fetched when needed.
func (t AuthType) givenByPerson() bool { return t != AuthClientCredentials && t != AuthPrivateKeyJWT }

func (c Connector) fresh(now time.Time) Freshness {
	f := Freshness{State: FreshCurrent, AsOf: c.ToolsLastSyncedAt, NextSync: c.Clock.DueAt}
	switch {
	case f.AsOf == nil:
		f.State = FreshNever
	case !c.Enabled || c.SyncInterval <= 0:
		f.State = FreshUnscheduled
	case now.Sub(*f.AsOf) > 2*c.SyncInterval:
		f.State = FreshStale
	}
	return f
}
