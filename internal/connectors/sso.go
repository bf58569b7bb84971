package connectors

import (
	"slices"
	"strings"
	"time"
)

// SSO is how a tenant's people sign in at the tenant's own OpenID provider. The zero value: it was never set up.
type SSO struct {
	Issuer      string // URL of the provider, as it names itself
	ClientID    string
	GroupsClaim string      // of the id token, or of what the provider tells of a person
	Groups      []GroupRole // by the group's name
	Joins       bool        // whoever signs in and is no member becomes one
	DefaultRole Role        // of whoever is in no group that gives one; empty: such a person has no access
	Enabled     bool
	Enforced    bool    // passwords open the tenant no more, but for BreakGlass
	BreakGlass  *UserID // the owner whose password works whatever happens to the provider
	Domains     []SSODomain
	TestedAt    *time.Time // nil: nobody has signed in with these settings to try them
	UpdatedAt   time.Time
}

// GroupRole is the role that a group of the provider gives.
type GroupRole struct {
	Group string
	Role  Role
}

// DomainProof says how a domain was found to be a tenant's.
type DomainProof string

// The ways to prove a domain.
const (
	ProofDNS      DomainProof = "dns"      // its TXT record holds what only the tenant was shown
	ProofOperator DomainProof = "operator" // the operator of the installation says so
)

// SSODomain is an e-mail domain that a tenant says is its own. It opens nothing until it is verified.
type SSODomain struct {
	Domain     string
	Proof      string // what its TXT record has to hold
	CreatedAt  time.Time
	VerifiedAt *time.Time
	VerifiedBy DomainProof
}

// ProofHost is where the TXT record of a domain stands.
func ProofHost(domain string) string { return "_patchbay." + domain }

// IsSetUp tells whether there is a provider.
func (s SSO) IsSetUp() bool { return s.Issuer != "" }

// Covers tells whether an e-mail address is of a domain that is verified.
func (s SSO) Covers(email string) bool {
	domain := EmailDomain(email)
	return domain != "" && slices.ContainsFunc(s.Domains, func(d SSODomain) bool { return d.VerifiedAt != nil && d.Domain == domain })
}

// EmailDomain is what follows the @ of an address, in lower case; empty: it is no address.
func EmailDomain(email string) string {
	local, domain, ok := strings.Cut(strings.ToLower(strings.TrimSpace(email)), "@")
	if !ok || local == "" || strings.Contains(domain, "@") {
		return ""
	}
	return domain
}

// RoleOf is the role of a person in these groups: the one that prevails of those that they give, else the default. False: they have no access.
func (s SSO) RoleOf(groups []string) (Role, bool) {
	best := Role("")
	for _, g := range s.Groups {
		if slices.Contains(groups, g.Group) {
			best = prevailing(best, g.Role)
		}
	}
	if best == "" {
		best = s.DefaultRole
	}
	return best, best != ""
}

// Governs tells whether the provider's groups say which role a member has. Where no group gives a role, members keep theirs.
func (s SSO) Governs() bool { return len(s.Groups) > 0 }
