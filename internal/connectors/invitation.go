package connectors

import "time"

// InvitationLife is how long the link of an invitation opens.
const InvitationLife = 72 * time.Hour

// Invitation asks whoever has an e-mail address to become a member of one tenant. Its link is known to nobody but who was given it.
type Invitation struct {
	ID         InvitationID
	Email      string
	Role       Role   // that the member will have
	InvitedBy  string // as they were called then
	CreatedAt  time.Time
	SentAt     time.Time // when its present link was made
	Sends      int       // how many links it has had
	ExpiresAt  time.Time // of its present link
	AcceptedAt *time.Time
	RevokedAt  *time.Time
}

// InvitationState is what an invitation is good for.
type InvitationState string

// The states of an invitation.
const (
	InvitationWaiting  InvitationState = "waiting"
	InvitationLapsed   InvitationState = "lapsed"   // its link is too old: it can be sent again
	InvitationAccepted InvitationState = "accepted" // used, once and for good
	InvitationRevoked  InvitationState = "revoked"
)

// State is the invitation's at a time.
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
