package templates

// AccountPage is the person's own account. Its form sends current_password and new_password to
// /account/password.
type AccountPage struct {
	Frame    Frame
	Facts    []Fact
	Form     Form
	Sessions []SessionRow // last used first
	Files    Pager        // of Sessions
	Limits   string       // when a session expires
	Programs []SignedInRow
	Mail     *MailPanel // nil: no e-mail is sent
}

// MailPanel is what the person is sent by e-mail. Its form sends mail to /account/mail.
type MailPanel struct {
	Tenant  string
	Form    Form
	Choices []Option
}

// SessionRow is one of the person's sessions. Signing out there posts to Action.
type SessionRow struct {
	Device  string // "Firefox on Linux"
	Address string
	Here    bool // this browser
	Began   When
	Seen    When
	Action  string // "/account/sessions/<id>/revoke"
}
