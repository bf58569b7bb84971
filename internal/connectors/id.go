package connectors

import "github.com/google/uuid"

// The ids are UUIDv7, so that they sort by the time they were made. Each has a type of its own: a connector's id
// does not compile where an agent's is wanted.
type (
	// TenantID names a tenant.
	TenantID struct{ uuid.UUID }
	// UserID names a person, in all tenants.
	UserID struct{ uuid.UUID }
	// ConnectorID names a connector.
	ConnectorID struct{ uuid.UUID }
	// AgentID names an agent.
	AgentID struct{ uuid.UUID }
	// CredentialID names a stored credential.
	CredentialID struct{ uuid.UUID }
	// SyncRunID names one attempt to read a connector's tools.
	SyncRunID struct{ uuid.UUID }
	// APIKeyID names an API key; it is part of the key's text and no secret.
	APIKeyID struct{ uuid.UUID }
	// SessionID names a place where a person is signed in; it is no proof of anything.
	SessionID struct{ uuid.UUID }
	// InvitationID names an invitation.
	InvitationID struct{ uuid.UUID }
	// AgentTokenID names an agent's token; it is part of the token's text and no secret.
	AgentTokenID struct{ uuid.UUID }
	// AccountRequestID names a call that missed an account; it is shown to the client, and no secret.
	AccountRequestID struct{ uuid.UUID }
	// MemberTokenID names an access token of a program that acts as a member; it is part of its text and no secret.
	MemberTokenID struct{ uuid.UUID }
	// AgentClientID names a program that somebody let be an agent; it is part of its codes and tokens and no secret.
	AgentClientID struct{ uuid.UUID }
	// ToolCallID names one tool call, and the approval that it may have needed.
	ToolCallID struct{ uuid.UUID }
	// NoticeID names a notice.
	NoticeID struct{ uuid.UUID }
	// WebhookID names a webhook.
	WebhookID struct{ uuid.UUID }
	// DeliveryID names what one webhook is told of one notice. Its receiver sees it, the same at each try.
	DeliveryID struct{ uuid.UUID }
	// ToolChangeID names one change of a tool's definition.
	ToolChangeID struct{ uuid.UUID }
	// InstanceID names one running process.
	InstanceID struct{ uuid.UUID }
)

// Ref is how callers name a connector or an agent: by id or by slug.
type Ref string

// UUID returns the reference as an id; ok is false where it is a slug. Only the canonical form of 36 characters counts.
func (r Ref) UUID() (id uuid.UUID, ok bool) {
	if len(r) != 36 {
		return uuid.UUID{}, false
	}
	id, err := uuid.Parse(string(r))
	return id, err == nil
}
