package connectors

import "time"

// Session is a place where a person is signed in: one browser.
type Session struct {
	ID        SessionID
	UserAgent string // as the browser says it; cut to 400 characters
	Address   string // where it was last used from
	Began     time.Time
	Seen      time.Time // its last use, to within a minute
	SSO       *TenantID // at whose provider it began, as far as that may be told; nil: by a password, or elsewhere

	SecondFactor bool // its person has proven it by one
}
