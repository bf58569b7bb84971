package templates

// MembersPage lists the tenant's members and invitations. One form sends email and role to /invitations, the
// other email, name, role and password to /members.
type MembersPage struct {
	Frame        Frame
	Rows         []MemberRow
	Count        string
	Invited      []InvitationRow
	InvitedCount string
	New          *NewInvitation // the new link; nil: none
	Roles        []Option       // with each role's permissions
	Names        []Option       // the roles, one word each
	Invite       Form
	Form         Form // of a member added without an invitation
	Mails        bool // an invitation's link can be e-mailed
	Pager        Pager
	Programs     []SignedInRow // that act as members; for owners
}

// MemberRow is one member. Changing the role sends role to Action + "/role", removing posts to Action +
// "/delete", signing out everywhere to Action + "/sign-out".
type MemberRow struct {
	Name     string
	Email    string
	Initial  string
	Self     bool
	Role     string // the value
	RoleName string // the word
	State    State
	Since    When
	Seen     When
	Action   string // "/members/<id>"
	Factor   bool   // has a second factor
}
