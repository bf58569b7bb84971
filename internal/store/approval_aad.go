package store

import (
	"fmt"

	"github.com/google/uuid"

	"patchbay/internal/connectors"
	"patchbay/internal/secret"
)

// approvalAD binds the sealed arguments of a call to its tenant, id, agent and connector.
func approvalAD(tenant connectors.TenantID, id connectors.ToolCallID, agent connectors.AgentID, to connectors.ConnectorID) secret.AD {
	return secret.AD{Tenant: tenant.String(), Table: "approvals", Column: "sealed", Row: fmt.Sprintf("%s %s %s", id, agent, to)}
}

func approvalResultAD(tenant connectors.TenantID, id connectors.ToolCallID) secret.AD {
	return secret.AD{Tenant: tenant.String(), Table: "approval_results", Column: "sealed", Row: id.String()}
}

// mailAD binds a sealed message to its agent and box.
func mailAD(tenant connectors.TenantID, id uuid.UUID, agent connectors.AgentID, box string) secret.AD {
	return secret.AD{Tenant: tenant.String(), Table: "gateway_mail", Column: "sealed", Row: fmt.Sprintf("%s %s %q", id, agent, box)}
}
