package connectors

import (
	"cmp"
	"time"
)

// Tenant is one customer of the installation, isolated from all others.
type Tenant struct {
	ID        TenantID
	Slug      string
	Name      string
	CreatedAt time.Time
	UpdatedAt time.Time

	CallHistory     CallHistory   // of arguments and results
	BodyReaders     BodyReaders   // of arguments and results
	ApprovalTimeout time.Duration // how long a call waits for approval before its agent must come back
	HistoryDays     int           // of history; 0: the installation's
	Defaults        Defaults      // of its new agents and connectors
	DownAfter       DownAfter     // of failing connectors

	SecondFactorRequired bool // for members, except with single sign-on
	RefuseInvalidResults bool // of tool calls: structured content must fit the tool's output schema
	TokenExchange        bool // connectors may name members and agents to authorization servers

	Sample              bool // of `patchbay seed`
	FirstStepsDismissed bool // the checklist on the home page

	Quota    Quota // of tool calls, set by an owner
	MaxQuota Quota // maximum of Quota, set by the operator
}

// FirstSteps is how far a tenant is on the way to its first agent call. A slug is empty until there is one.
type FirstSteps struct {
	Connector string // slug of the first connector
	Agent     string // slug of the first agent
	Granted   string // slug of the first agent with access
	Used      bool   // an agent reached the gateway
}

// Done reports whether nothing is left.
func (s FirstSteps) Done() bool {
	return s.Connector != "" && s.Agent != "" && s.Granted != "" && s.Used
}

// Calls returns the effective quota.
func (t Tenant) Calls() Quota { return t.Quota.Below(t.MaxQuota) }

// Member is a person in one tenant.
type Member struct {
	UserID    UserID
	Email     string
	Name      string
	Role      Role
	CreatedAt time.Time
	SignedIn  *time.Time // last sign-in to any tenant; nil: never
	Seen      *time.Time // last use of this tenant's dashboard, to a few minutes; nil: never

	SecondFactor bool // required besides the password
}

// DisplayName returns the name, else the address.
func (m Member) DisplayName() string { return cmp.Or(m.Name, m.Email) }

// APIKey is a program's key without its secret.
type APIKey struct {
	ID         APIKeyID
	Name       string
	Role       Role
	Prefix     string // first characters of the key, for display
	CreatedBy  string // the creator's name at the time; empty: unknown
	CreatedAt  time.Time
	ExpiresAt  *time.Time // nil: never
	LastUsedAt *time.Time // to the minute; nil: never
	RevokedAt  *time.Time // nil: usable
}
