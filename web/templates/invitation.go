package templates

// InvitationRow is one open invitation. Sending it again posts to Action + "/send", taking it back to Action + "/revoke".
type InvitationRow struct {
	Email  string
	Role   string // the word
	By     string // empty: not known
	State  State
	Sent   When
	Ends   When
	Action string // "/invitations/<id>"
}

// NewInvitation is the link of an invitation that was just made or sent again, shown this once.
type NewInvitation struct {
	Email string
	Role  string // the word
	URL   string
	Ends  When
}

// JoinPage is where an invitation's link leads. Its form sends token, name and password to /setup/invitation.
type JoinPage struct {
	Frame  Frame
	Form   Form
	Token  string
	Tenant string
	Email  string // that the invitation is for
	Role   string // what the person will be, with what that may do
	By     string // empty: not known
	Ends   When
	Who    string // the address that is signed in in this browser; empty: none is
	Issuer string // the tenant that issued the account that is signed in, which opens no other; empty: the account is the person's own
}
