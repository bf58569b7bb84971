package connectors

import "github.com/google/uuid"

// Ids are UUIDv7, sorted by creation. Each has its own type: a connector's id does not compile in place of an
// agent's.
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
	// APIKeyID names an API key; it is part of the key and not secret.
	APIKeyID struct{ uuid.UUID }
	// SessionID names a person's session; it authenticates nothing.
	SessionID struct{ uuid.UUID }
	// InvitationID names an invitation.
	InvitationID struct{ uuid.UUID }
	// AccessRequestID names a request for access.
	AccessRequestID struct{ uuid.UUID }
	// AgentTokenID names an agent's token; it is part of the token and not secret.
	AgentTokenID struct{ uuid.UUID }
	// AccountRequestID names a call without an account; clients see it, it is not secret.
	AccountRequestID struct{ uuid.UUID }
	// MemberTokenID names an access token of a program that acts for a member; it is part of the token and not
	// secret.
	MemberTokenID struct{ uuid.UUID }
	// AgentClientID names a program that a person authorized; it is part of its codes and tokens and not
	// secret.
	AgentClientID struct{ uuid.UUID }
	// AgentWorkloadID names a workload that gets an agent's tokens. It is the workload's client_id and not secret.
	AgentWorkloadID struct{ uuid.UUID }
	// ToolCallID names a tool call and its approval.
	ToolCallID struct{ uuid.UUID }
	// NoticeID names a notice.
	NoticeID struct{ uuid.UUID }
	// WebhookID names a webhook.
	WebhookID struct{ uuid.UUID }
	// AuditStreamID names a stream of audit entries and call outcomes.
	AuditStreamID struct{ uuid.UUID }
	// RegistryID names a published list of connectors; it authenticates nothing.
	RegistryID struct{ uuid.UUID }
	// SCIMUserID names a person of the tenant's identity provider; it is no [UserID].
	SCIMUserID struct{ uuid.UUID }
	// SCIMGroupID names a group of the tenant's identity provider.
	SCIMGroupID struct{ uuid.UUID }
	// DeliveryID names one notice's delivery to one webhook. Its receiver sees the same id at each attempt.
	DeliveryID struct{ uuid.UUID }
	// ToolChangeID names one change of a tool's definition.
	ToolChangeID struct{ uuid.UUID }
	// InstanceID names one running process.
	InstanceID struct{ uuid.UUID }
)

// Ref names a connector or agent by id or slug.
type Ref string

// UUID returns the reference as an id; false: it is a slug. Only the canonical form of 36 characters counts.
func (r Ref) UUID() (id uuid.UUID, ok bool) {
	if len(r) != 36 {
		return uuid.UUID{}, false
	}
	id, err := uuid.Parse(string(r))
	return id, err == nil
}
