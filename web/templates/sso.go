package templates

// SSOPage is how people sign in at the organisation's own provider. Its form sends ssoFields to /settings/sso; what tries it and what is
// about domains are forms of their own.
type SSOPage struct {
	Frame   Frame
	Form    Form
	State   State
	Reason  string // what is missing; empty: nothing
	SetUp   bool   // there is a provider to be tried
	Roles   []Option
	Owners  []Option // whose password may stay the way in
	Facts   []Fact   // what the provider has to be told; when it was tried
	Domains []SSODomainRow
	Claim   Form // domain
}

// SSODomainRow is one e-mail domain.
type SSODomainRow struct {
	Domain string
	State  State
	Host   string // where its TXT record stands; empty: it is verified
	Proof  string // what the record holds
}

// ssoFields are the fields of the form.
var ssoFields = []string{
	"issuer", "client_id", "client_secret", "groups_claim", "groups", "default_role", "joins", "enabled", "enforced", "break_glass",
}
