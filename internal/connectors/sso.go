package connectors

import (
	"slices"
	"strings"
	"time"
)

// SSO configures sign-in at the tenant's own OpenID provider. The zero value: not configured.
type SSO struct {
	Issuer      string // issuer URL
	ClientID    string
	GroupsClaim string      // in the id token or userinfo
	Groups      []GroupRole // by the group's name
	Joins       bool        // new people become members
	DefaultRole Role        // without a mapped group; empty: no access
	Enabled     bool
	Enforced    bool    // passwords are refused, except for BreakGlass
	BreakGlass  *UserID // the owner with a password for emergencies
	// ManagedAccounts: members' sign-ins at the provider give their personal agents accounts at MCP servers (enterprise-managed
	// authorization).
	ManagedAccounts bool
	ManagedClients  bool // clients sign members in with identity assertions of the provider
	Domains         []SSODomain
	TestedAt        *time.Time // nil: not tested with these settings
	UpdatedAt       time.Time
}

// GroupRole is the role of a provider's group.
type GroupRole struct {
	Group string
	Role  Role
}

// DomainProof is how a domain was verified.
type DomainProof string

// The ways to prove a domain.
const (
	ProofDNS      DomainProof = "dns"      // by a TXT record with the tenant's proof
	ProofOperator DomainProof = "operator" // by the operator of the installation
)

// SSODomain is an e-mail domain that a tenant claims. It has no effect until verified.
type SSODomain struct {
	Domain     string
	Proof      string // content of its TXT record
	CreatedAt  time.Time
	VerifiedAt *time.Time
	VerifiedBy DomainProof
}

// ProofHost is the name of a domain's TXT record.
func ProofHost(domain string) string { return "_patchbay." + domain }

// IsSetUp reports whether there is a provider.
func (s SSO) IsSetUp() bool { return s.Issuer != "" }

// Covers reports whether an e-mail address is of a verified domain.
func (s SSO) Covers(email string) bool {
	domain := EmailDomain(email)
	return domain != "" && slices.ContainsFunc(s.Domains, func(d SSODomain) bool { return d.VerifiedAt != nil && d.Domain == domain })
}

// EmailDomain returns the lower-case domain of an address; "": invalid.
func EmailDomain(email string) string {
	local, domain, ok := strings.Cut(strings.ToLower(strings.TrimSpace(email)), "@")
	if !ok || local == "" || strings.Contains(domain, "@") {
		return ""
	}
	return domain
}

// RoleOf returns the role of a person in these groups, by precedence, else the default; false: no access.
func (s SSO) RoleOf(groups []string) (Role, bool) {
	best := Role("")
	for _, g := range s.Groups {
		if slices.Contains(groups, g.Group) {
			best = higherRole(best, g.Role)
		}
	}
	if best == "" {
		best = s.DefaultRole
	}
	return best, best != ""
}

// Governs reports whether the provider's groups set members' roles. Without a mapped group members keep theirs.
func (s SSO) Governs() bool { return len(s.Groups) > 0 }
