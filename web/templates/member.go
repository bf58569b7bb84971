package templates

// MembersPage lists the people of the tenant. Its form sends email, name, role and password to /members.
type MembersPage struct {
	Frame Frame
	Rows  []MemberRow
	Count string
	Roles []Option // with what each may do
	Names []Option // the roles, each as one word
	Form  Form
	Pager Pager
}

// MemberRow is one person. Changing the role sends role to Action + "/role", removing posts to Action + "/delete".
type MemberRow struct {
	Name     string
	Email    string
	Initial  string
	Self     bool
	Role     string // the value
	RoleName string // the word
	SignedIn When
	Action   string // "/members/<id>"
}
