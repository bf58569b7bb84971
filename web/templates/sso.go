package templates

// SSOPage has the organisation's SSO settings. Its form sends ssoFields to /settings/sso. The test and the
// domains have forms of their own.
type SSOPage struct {
	Frame   Frame
	Form    Form
	State   State
	Reason  string // what is missing; empty: nothing
	SetUp   bool   // there is a provider to test
	Roles   []Option
	Owners  []Option // owners that may keep signing in by password
	Facts   []Fact   // addresses for the provider, and the last test
	Domains []SSODomainRow
	Claim   Form // domain
}

// SSODomainRow is one e-mail domain.
type SSODomainRow struct {
	Domain string
	State  State
	Host   string // name of its TXT record; empty: verified
	Proof  string // the record's value
}

var ssoFields = []string{
	"issuer", "client_id", "client_secret", "groups_claim", "groups", "default_role", "joins", "enabled", "enforced", "break_glass",
	"managed_accounts", "managed_clients",
}
