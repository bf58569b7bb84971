package templates

// AccountPage is the person's own page. Its form sends current_password and new_password to /account/password.
type AccountPage struct {
	Frame    Frame
	Facts    []Fact
	Form     Form
	Sessions []SessionRow // the last used first
	Limits   string       // when a session ends by itself
	Programs []SignedInRow
}

// SessionRow is one place where the person is signed in. Signing out there posts to Action.
type SessionRow struct {
	Device  string // "Firefox on Linux"
	Address string
	Here    bool // this browser
	Began   When
	Seen    When
	Action  string // "/account/sessions/<id>/revoke"
}
