package connectors

import (
	"cmp"
	"time"
)

// Tenant is one customer of the installation. Tenants never see each other.
type Tenant struct {
	ID        TenantID
	Slug      string
	Name      string
	CreatedAt time.Time
	UpdatedAt time.Time

	CallHistory     CallHistory   // what is kept of arguments and results
	BodyReaders     BodyReaders   // who reads that
	ApprovalTimeout time.Duration // how long a call waits for a person, before its agent is told to come back
	HistoryDays     int           // how many days of history it keeps; 0: as many as the installation
	Defaults        Defaults      // of its new agents and connectors

	SecondFactorRequired bool // of its members, but for those who come by single sign-on

	Quota Quota // of its tool calls, as its owner set it
	Most  Quota // of its tool calls, as the operator set it
}

// Calls is how many tools the tenant may call in effect.
func (t Tenant) Calls() Quota { return t.Quota.Below(t.Most) }

// Member is a person in one tenant.
type Member struct {
	UserID    UserID
	Email     string
	Name      string
	Role      Role
	CreatedAt time.Time
	SignedIn  *time.Time // last sign-in, in any tenant; nil: never
	Seen      *time.Time // last use of this tenant's dashboard, within a few minutes; nil: never

	SecondFactor bool // asked for besides the password
}

// DisplayName is the person's name, or the address where there is none.
func (m Member) DisplayName() string { return cmp.Or(m.Name, m.Email) }

// APIKey is a program's key, without its secret.
type APIKey struct {
	ID         APIKeyID
	Name       string
	Role       Role
	Prefix     string // the first characters of the key, to recognise it by
	CreatedBy  string // who made it, as they were called then; empty: not known
	CreatedAt  time.Time
	ExpiresAt  *time.Time // nil: never
	LastUsedAt *time.Time // within a minute; nil: never
	RevokedAt  *time.Time // nil: usable
}
