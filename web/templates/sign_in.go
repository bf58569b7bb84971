package templates

// SignInPage asks who is there. Its form sends email, password and return_to to /login.
type SignInPage struct {
	Frame    Frame
	Form     Form
	ReturnTo string // where to go afterwards; empty: the start
}

// SetupPage makes the first owner. Its form sends token, email, name and password to /setup.
type SetupPage struct {
	Frame  Frame
	Form   Form
	Token  string // of the setup link, handed back in a hidden field
	Tenant string // name of the organisation
}
