package templates

// SignInPage is the sign-in page. Its form sends email, password and return_to to /login.
type SignInPage struct {
	Frame    Frame
	Form     Form
	ReturnTo string // empty: the home page
}

// SetupPage creates the first owner. Its form sends token, email, name and password to /setup.
type SetupPage struct {
	Frame  Frame
	Form   Form
	Token  string // of the setup link, kept in a hidden field
	Tenant string // name of the organisation
}
