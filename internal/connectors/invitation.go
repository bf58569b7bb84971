package connectors

import "time"

// InvitationLife is the validity of an invitation's link.
const InvitationLife = 72 * time.Hour

// Invitation invites an e-mail address to become a member of one tenant. Only the recipient knows the link.
type Invitation struct {
	ID         InvitationID
	Email      string
	Role       Role   // of the future member
	InvitedBy  string // their name at the time
	CreatedAt  time.Time
	SentAt     time.Time // of the current link
	Sends      int       // number of links
	ExpiresAt  time.Time // of the current link
	AcceptedAt *time.Time
	RevokedAt  *time.Time
}

// InvitationState is the state of an invitation.
type InvitationState string

// The states of an invitation.
const (
	InvitationWaiting  InvitationState = "waiting"
	InvitationLapsed   InvitationState = "lapsed"   // expired: it can be sent again
	InvitationAccepted InvitationState = "accepted" // used
	InvitationRevoked  InvitationState = "revoked"
)

// State returns the state at a time.
func (i Invitation) State(now time.Time) InvitationState {
	switch {
	case i.AcceptedAt != nil:
		return InvitationAccepted
	case i.RevokedAt != nil:
		return InvitationRevoked
	case !i.ExpiresAt.After(now):
		return InvitationLapsed
	}
	return InvitationWaiting
}
