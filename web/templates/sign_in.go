package templates

import (
	"context"

	"patchbay/internal/i18n"
)

// SignInPage is the sign-in page. Its form sends email, password and return_to to /login.
type SignInPage struct {
	Frame    Frame
	Form     Form
	ReturnTo string // empty: the home page
	SSO      bool   // some organisation has single sign-on
	Fresh    bool   // no organisation has an owner yet
	Mails    bool   // a link to set a new password can be e-mailed
}

// ForgotPage asks for the address of a link to set a new password. Its form sends email to /forgot.
type ForgotPage struct {
	Frame Frame
	Form  Form
	Sent  string // the address, after a request; empty: none yet
}

// ResetPage is the page of that link. Its form sends token and new_password to /reset.
type ResetPage struct {
	Frame Frame
	Form  Form
	Token string
	Email string
}

// SetupPage creates the first owner. Its form sends token, email, name and password to /setup.
type SetupPage struct {
	Frame  Frame
	Form   Form
	Token  string // of the setup link, kept in a hidden field
	Tenant string // name of the organisation
}

// passwordRule is empty if the field's error says it.
func (p SetupPage) passwordRule(ctx context.Context) string {
	if p.Form.Error("password") != "" {
		return ""
	}
	return i18n.T(ctx, "At least 10 characters.")
}
