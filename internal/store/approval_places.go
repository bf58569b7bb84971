package store

import (
	"fmt"

	"github.com/google/uuid"

	"patchbay/internal/connectors"
	"patchbay/internal/secret"
)

// approvalPlace names whose call it is and where it goes: arguments that a person approved open for that call alone.
func approvalPlace(tenant connectors.TenantID, id connectors.ToolCallID, agent connectors.AgentID, to connectors.ConnectorID) secret.AD {
	return secret.AD{Tenant: tenant.String(), Table: "approvals", Column: "sealed", Row: fmt.Sprintf("%s %s %s", id, agent, to)}
}

func approvalResultPlace(tenant connectors.TenantID, id connectors.ToolCallID) secret.AD {
	return secret.AD{Tenant: tenant.String(), Table: "approval_results", Column: "sealed", Row: id.String()}
}

// mailPlace names the agent and the box, which says for which of its conversations a message is.
func mailPlace(tenant connectors.TenantID, id uuid.UUID, agent connectors.AgentID, box string) secret.AD {
	return secret.AD{Tenant: tenant.String(), Table: "gateway_mail", Column: "sealed", Row: fmt.Sprintf("%s %s %q", id, agent, box)}
}
