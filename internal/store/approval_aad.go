package store

import (
	"fmt"

	"github.com/google/uuid"

	"patchbay/internal/connectors"
	"patchbay/internal/secret"
)

// approvalPlace is what the sealed arguments of a call are bound to.
type approvalPlace struct {
	id        connectors.ToolCallID
	agent     connectors.AgentID
	connector connectors.ConnectorID
	account   *connectors.CredentialID // nil: any, as in the previous release
}

func approvalAD(tenant connectors.TenantID, at approvalPlace) secret.AD {
	row := fmt.Sprintf("%s %s %s", at.id, at.agent, at.connector)
	if at.account != nil {
		row += " " + at.account.String()
	}
	return secret.AD{Tenant: tenant.String(), Table: "approvals", Column: "sealed", Row: row}
}

func approvalResultAD(tenant connectors.TenantID, id connectors.ToolCallID) secret.AD {
	return secret.AD{Tenant: tenant.String(), Table: "approval_results", Column: "sealed", Row: id.String()}
}

// mailAD binds a sealed message to its agent and box.
func mailAD(tenant connectors.TenantID, id uuid.UUID, agent connectors.AgentID, box string) secret.AD {
	return secret.AD{Tenant: tenant.String(), Table: "gateway_mail", Column: "sealed", Row: fmt.Sprintf("%s %s %q", id, agent, box)}
}
