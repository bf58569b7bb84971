package connectors

import (
	"encoding/json"
	"time"

	"github.com/google/uuid"
)

// Bounds of what an identity provider may store by SCIM.
const (
	MaxSCIMUsers        = 20_000
	MaxSCIMGroups       = 2_000
	MaxSCIMGroupMembers = 5_000 // per group
)

// SCIM is the state of the tenant's SCIM address.
type SCIM struct {
	TokenPrefix   string
	CreatedAt     time.Time
	RotatedAt     *time.Time // nil: the first token
	LastRequestAt *time.Time // nil: none yet
	Users         int        // that the provider manages
	Members       int        // of these, members now
	Groups        int
}

// SCIMUser is a person as the tenant's identity provider manages them.
type SCIMUser struct {
	ID         SCIMUserID
	UserName   string
	ExternalID string // empty: none
	Email      string
	Active     bool
	Member     *UserID         // nil: not a member
	Attributes json.RawMessage // the rest of the resource
	CreatedAt  time.Time
	UpdatedAt  time.Time
}

// SCIMGroup is a group of the tenant's identity provider.
type SCIMGroup struct {
	ID          SCIMGroupID
	DisplayName string
	ExternalID  string // empty: none
	CreatedAt   time.Time
	UpdatedAt   time.Time
}

// SCIMFilter narrows down users or groups. Nil fields match everything.
type SCIMFilter struct {
	ID          *uuid.UUID
	UserName    *string // of users; in any case
	Email       *string // of users; in any case
	Active      *bool   // of users
	DisplayName *string // of groups; in any case
	Member      *uuid.UUID
	ExternalID  *string
}
