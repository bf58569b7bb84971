package connectors

import "time"

// Session is a person's session in one browser.
type Session struct {
	ID        SessionID
	UserAgent string // as sent by the browser; at most 400 characters
	Address   string // of its last use
	Began     time.Time
	Seen      time.Time // last use, to the minute
	SSO       *TenantID // of the provider, as far as visible; nil: by password, or elsewhere

	SecondFactor bool // verified
}
