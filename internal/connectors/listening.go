package connectors

import "time"

// ListenPolicy says whether a stream is held on which a connector's server tells that its lists have changed.
type ListenPolicy string

// The listen policies.
const (
	ListenAuto ListenPolicy = "auto" // where the server says that it tells
	ListenOff  ListenPolicy = "off"
)

// ListenState is how such a stream is.
type ListenState string

// The listen states.
const (
	ListenWaiting   ListenState = "waiting" // to be opened, at once or after a while
	ListenListening ListenState = "listening"
	ListenIsOff     ListenState = "off"
)

// ListenReason is why a stream is off, or waits.
type ListenReason string

// The listen reasons.
const (
	ListenNoReason     ListenReason = ""
	ListenSetting      ListenReason = "setting"      // a person has switched it off
	ListenNoStream     ListenReason = "no_stream"    // the server refuses it
	ListenUnauthorized ListenReason = "unauthorized" // there is no credential that the server takes
	ListenUnreachable  ListenReason = "unreachable"  // it cannot be opened just now, or ended
	ListenCrowded      ListenReason = "crowded"      // too many others are open
	ListenFlood        ListenReason = "flood"        // the server said too much
	ListenVain         ListenReason = "unchanged"    // the lists had not changed, again and again
	ListenEnds         ListenReason = "ends"         // the server ends it as soon as it is open
)

// Misbehaves tells whether a person has to switch listening on again.
func (r ListenReason) Misbehaves() bool {
	return r == ListenFlood || r == ListenVain || r == ListenEnds
}

// Sentence says what a person may read; empty: there is nothing to say.
func (r ListenReason) Sentence() string {
	switch r {
	case ListenSetting:
		return "Listening is switched off in the settings."
	case ListenNoStream:
		return "The server says that it tells of changes, and offers no stream to do it on. Patchbay asks again once a day."
	case ListenUnauthorized:
		return "The server does not open the stream without an account or a credential that works. Patchbay asks again when one is stored, or within a day."
	case ListenUnreachable:
		return "The stream could not be opened, or it ended. Patchbay tries again by itself."
	case ListenCrowded:
		return "Too many streams are open at the moment. Patchbay tries again by itself."
	case ListenFlood:
		return "The server said more than 600 things within a minute. Ask its operator, then switch listening on again."
	case ListenVain:
		return "The server said ten times in a row that its lists had changed, and they had not. Ask its operator, then switch listening on again."
	case ListenEnds:
		return "The server ended the stream as soon as it was open, again and again. Ask its operator, then switch listening on again."
	}
	return ""
}

// Listening is how the stream of a connector's server is.
type Listening struct {
	State          ListenState
	Since          time.Time // zero: as long as there is the setting
	Reason         ListenReason
	LastNotifiedAt *time.Time // when the server said last that a list had changed; nil: never
	Notified       int        // how often
}

// ListeningOf is how listening to a connector's server is, given the streams that there are; ok is false where the server does not tell
// of changes.
func ListeningOf(c Connector, streams map[ConnectorID]Listening) (l Listening, ok bool) {
	if c.Listen == ListenOff {
		return Listening{State: ListenIsOff, Reason: ListenSetting}, true
	}
	l, ok = streams[c.ID]
	return l, ok
}

// Why says why nobody listens; empty: somebody does, or is about to.
func (l Listening) Why() string {
	if l.State == ListenWaiting && l.Reason.Misbehaves() {
		return ListenUnreachable.Sentence() // once is no misbehaviour
	}
	return l.Reason.Sentence()
}
