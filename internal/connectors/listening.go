package connectors

import "time"

// ListenPolicy is whether a stream is opened for the server's list_changed notifications.
type ListenPolicy string

// The listen policies.
const (
	ListenAuto ListenPolicy = "auto" // if the server announces notifications
	ListenOff  ListenPolicy = "off"
)

// ListenState is the state of such a stream.
type ListenState string

// The listen states.
const (
	ListenWaiting   ListenState = "waiting" // to be opened, now or later
	ListenListening ListenState = "listening"
	ListenStateOff  ListenState = "off"
)

// ListenReason is why a stream is off or waits.
type ListenReason string

// The listen reasons.
const (
	ListenNoReason     ListenReason = ""
	ListenSetting      ListenReason = "setting"      // switched off by a person
	ListenNoStream     ListenReason = "no_stream"    // refused by the server
	ListenUnauthorized ListenReason = "unauthorized" // no accepted credential
	ListenUnreachable  ListenReason = "unreachable"  // it failed or ended
	ListenHostLimit    ListenReason = "crowded"      // too many streams are open
	ListenFlood        ListenReason = "flood"        // too many notifications
	ListenUnchanged    ListenReason = "unchanged"    // repeatedly notified without a change
	ListenShortLived   ListenReason = "ends"         // ended right after opening, repeatedly
)

// Misbehaves reports whether a person must switch listening on again.
func (r ListenReason) Misbehaves() bool {
	return r == ListenFlood || r == ListenUnchanged || r == ListenShortLived
}

// Sentence explains the reason to people; "": nothing to explain.
func (r ListenReason) Sentence() string {
	switch r {
	case ListenSetting:
		return "Turned off in settings."
	case ListenNoStream:
		return "The server advertises change notifications but offers no stream. Patchbay retries daily."
	case ListenUnauthorized:
		return "The stream needs a working account or credential. Patchbay retries when one is stored, or within a day."
	case ListenUnreachable:
		return "The stream failed or ended. Patchbay retries."
	case ListenHostLimit:
		return "Too many open streams. Patchbay retries."
	case ListenFlood:
		return "The server sent over 600 messages in a minute. Ask its operator, then turn listening on."
	case ListenUnchanged:
		return "The server announced changes ten times in a row, but nothing had changed. Ask its operator, then turn listening on."
	case ListenShortLived:
		return "The server keeps closing the stream. Ask its operator, then turn listening on."
	}
	return ""
}

// Listening is the state of a server's notification stream.
type Listening struct {
	State          ListenState
	Since          time.Time // zero: since the setting
	Reason         ListenReason
	LastNotifiedAt *time.Time // last list_changed; nil: never
	Notified       int        // number of notifications
}

// ListeningOf returns the state of listening to a connector's server; false: the server announces no
// notifications.
func ListeningOf(c Connector, streams map[ConnectorID]Listening) (l Listening, ok bool) {
	if c.Listen == ListenOff {
		return Listening{State: ListenStateOff, Reason: ListenSetting}, true
	}
	l, ok = streams[c.ID]
	return l, ok
}

// Why explains why no stream is open; "": one is, or is about to be.
func (l Listening) Why() string {
	if l.State == ListenWaiting && l.Reason.Misbehaves() {
		return ListenUnreachable.Sentence() // not misbehaviour yet
	}
	return l.Reason.Sentence()
}
