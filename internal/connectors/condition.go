package connectors

import "time"

// Health is a connector's health in three independent parts: a server that refuses a credential is up, and
// tools stay served while it is down.
type Health struct {
	Reachable  Reachability
	Authorized Authorization
	Fresh      Freshness
	Failures   int // failed syncs in a row, for any reason
}

// ReachState is whether the server responds as it should.
type ReachState string

// The reach states.
const (
	ReachUnknown ReachState = "unknown" // no request yet, or none without a credential
	ReachUp      ReachState = "up"
	ReachFailing ReachState = "failing"
	ReachDead    ReachState = "dead" // failing for days, tried rarely
)

// Reachability is whether the server responds as it should.
type Reachability struct {
	State ReachState
	Since *time.Time // the first failure, if failing or dead; else nil
	Down  bool       // failing or dead, and down by the tenant's settings
}

// AuthState is whether the server accepts the credential.
type AuthState string

// The auth states.
const (
	AuthStateNone   AuthState = "none" // no credential is needed
	AuthStateOK     AuthState = "ok"
	AuthStateLapses AuthState = "lapses_soon"  // and only a person can renew it
	AuthStatePerson AuthState = "needs_person" // missing, expired or refused
)

// Authorization is whether the server accepts the credential.
type Authorization struct {
	State AuthState
	Ends  *time.Time // of lapses_soon; else nil
}

// FreshState is the age of the served tools.
type FreshState string

// The fresh states.
const (
	FreshNever       FreshState = "never" // no successful sync yet
	FreshCurrent     FreshState = "fresh"
	FreshStale       FreshState = "stale"       // older than two intervals
	FreshUnscheduled FreshState = "unscheduled" // no sync is due: disabled, or synced by hand only
)

// Freshness is the age of the served tools.
type Freshness struct {
	State    FreshState
	AsOf     *time.Time // last successful sync; nil: never
	NextSync *time.Time // nil: never, or not before the credential is repaired
}

// CredentialsState summarizes the credentials of a connector and its agents.
type CredentialsState struct {
	NeedsPerson bool       // one that a person stores is missing, expired or revoked
	Lapses      *time.Time // first end of the others that only a person can renew; nil: none
}

// lapseWarning is how long before its end a credential is reported.
const lapseWarning = 72 * time.Hour

// Health returns the connector's health at a time.
func (c Connector) Health(now time.Time) Health {
	return Health{Reachable: c.reachability(now), Authorized: c.authorization(now), Fresh: c.freshness(now), Failures: c.Clock.Failures}
}

func (c Connector) reachability(now time.Time) Reachability {
	switch {
	case c.LastError == nil && c.ToolsLastSyncedAt == nil:
		return Reachability{State: ReachUnknown}
	case c.LastError == nil:
		return Reachability{State: ReachUp}
	}
	if state := ReachStateFor(c.LastError.Code); state != ReachFailing {
		return Reachability{State: state}
	}
	since := c.Clock.FailingSince
	if since == nil { // a sync that never began is not in the clock
		since = &c.LastError.At
	}
	if (SyncFailure{FailingFor: now.Sub(*since)}).Dead() {
		return Reachability{State: ReachDead, Since: since, Down: c.Clock.Down}
	}
	return Reachability{State: ReachFailing, Since: since, Down: c.Clock.Down}
}

// ReachStateFor returns the server's state by a sync's error code: up if it refused a credential, unknown if
// there was none to send, else failing.
func ReachStateFor(code string) ReachState {
	switch {
	case code == codeCredentialRequired:
		return ReachUnknown
	case NeedsPerson(code):
		return ReachUp
	}
	return ReachFailing
}

func (c Connector) authorization(now time.Time) Authorization {
	held := c.Credentials
	switch {
	case c.LastError != nil && NeedsPerson(c.LastError.Code):
		return Authorization{State: AuthStatePerson}
	case c.Auth.Type == AuthNone:
		return Authorization{State: AuthStateNone}
	case held.NeedsPerson:
		return Authorization{State: AuthStatePerson}
	case held.Lapses != nil && held.Lapses.Sub(now) < lapseWarning:
		return Authorization{State: AuthStateLapses, Ends: held.Lapses}
	}
	return Authorization{State: AuthStateOK}
}

func (c Connector) freshness(now time.Time) Freshness {
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
