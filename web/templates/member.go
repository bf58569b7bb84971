package templates

// MembersPage lists the people of the tenant, and those who were asked. One form sends email and role to /invitations, the other email,
// name, role and password to /members.
type MembersPage struct {
	Frame        Frame
	Rows         []MemberRow
	Count        string
	Invited      []InvitationRow
	InvitedCount string
	New          *NewInvitation // the link that was just made; nil: none
	Roles        []Option       // with what each may do
	Names        []Option       // the roles, each as one word
	Invite       Form
	Form         Form // of who is added without an invitation
	Adding       bool // that form is open
	Pager        Pager
	Programs     []SignedInRow // that act as members; for owners
}

// MemberRow is one person. Changing the role sends role to Action + "/role", removing posts to Action +
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
