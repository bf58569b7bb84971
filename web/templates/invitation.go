package templates

// InvitationRow is one open invitation. Resending posts to Action + "/send", revoking to Action + "/revoke".
type InvitationRow struct {
	Email  string
	Role   string // the word
	By     string // empty: not known
	State  State
	Sent   When
	Ends   When
	Action string // "/invitations/<id>"
}

// NewInvitation is the link of a new or resent invitation, shown once.
type NewInvitation struct {
	Email  string
	Role   string // the word
	URL    string
	Ends   When
	Mailed string // whether the link was e-mailed; empty: no e-mail is configured
	Failed bool   // it was not
}

// JoinPage is the page of an invitation's link. Its form sends token, name and password to /setup/invitation.
type JoinPage struct {
	Frame  Frame
	Form   Form
	Token  string
	Tenant string
	Email  string // the invited address
	Role   string // the role, with its permissions
	By     string // empty: not known
	Ends   When
	Who    string // address of the browser's signed-in person; empty: none
	Issuer string // the tenant that issued the signed-in account, which is valid there alone; empty: the account is the person's own
}
