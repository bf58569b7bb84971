package store

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/google/uuid"

	"patchbay/internal/connectors"
	"patchbay/internal/secret"
)

// sealedTable is a table with a column "sealed".
type sealedTable struct {
	table          string
	primaryKey     string // its columns after tenant_id
	isInstallation bool   // sealed by the installation's key: tenants' keys, and values of no tenant
	tenantColumn   string // first column of the primary key; empty: tenant_id
	adColumns      string // further columns of the additional data
	ad             func(r sealedRow) secret.AD
}

// sealedTables lists every table with a column "sealed", which a test checks. A rotation reseals them all.
var sealedTables = []sealedTable{
	{table: "tenant_keys", isInstallation: true, ad: func(r sealedRow) secret.AD { return tenantKeyAD(r.tenantID().String()) }},
	{table: "second_factors", isInstallation: true, tenantColumn: "user_id", ad: func(r sealedRow) secret.AD {
		return secondFactorAD(connectors.UserID{UUID: r.uuidColumn("user_id")})
	}},
	{table: "credentials", primaryKey: "id", adColumns: "connector_id, agent_id, name, origin", ad: func(r sealedRow) secret.AD {
		return credentialAD(r.tenantID(), accountPlace{connectors.ConnectorID{UUID: r.uuidColumn("connector_id")}, r.agentID(), r.textColumn("name"), r.textColumn("origin")})
	}},
	{table: "account_revocations", primaryKey: "id", adColumns: "connector_id, agent_id, name, origin", ad: func(r sealedRow) secret.AD {
		return credentialAD(r.tenantID(), accountPlace{connectors.ConnectorID{UUID: r.uuidColumn("connector_id")}, r.agentID(), r.textColumn("name"), r.textColumn("origin")})
	}},
	{table: "revocation_clients", primaryKey: "id", adColumns: "connector_id, client_id, origin, issuer", ad: func(r sealedRow) secret.AD {
		return clientSecretAD(r.tenantID(), connectors.ConnectorID{UUID: r.uuidColumn("connector_id")}, r.textColumn("client_id"), r.textColumn("origin"), r.textColumn("issuer"))
	}},
	{table: "client_registrations", primaryKey: "issuer, redirect_uri", adColumns: "client_id", ad: func(r sealedRow) secret.AD {
		return registrationAD(r.tenantID(), r.textColumn("issuer"), r.textColumn("redirect_uri"), r.textColumn("client_id"))
	}},
	{table: "connector_clients", primaryKey: "connector_id", adColumns: "client_id, origin, issuer", ad: func(r sealedRow) secret.AD {
		return clientSecretAD(r.tenantID(), connectors.ConnectorID{UUID: r.uuidColumn("connector_id")}, r.textColumn("client_id"), r.textColumn("origin"), r.textColumn("issuer"))
	}},
	{table: "connector_envs", primaryKey: "connector_id", adColumns: "program", ad: func(r sealedRow) secret.AD {
		return environmentAD(r.tenantID(), connectors.ConnectorID{UUID: r.uuidColumn("connector_id")}, r.textColumn("program"))
	}},
	{table: "approvals", primaryKey: "id", adColumns: "agent_id, connector_id, sealed_account_id", ad: func(r sealedRow) secret.AD {
		at := approvalPlace{id: connectors.ToolCallID{UUID: r.uuidColumn("id")}, agent: *r.agentID(), connector: connectors.ConnectorID{UUID: r.uuidColumn("connector_id")}}
		if r["sealed_account_id"] != nil {
			at.account = &connectors.CredentialID{UUID: r.uuidColumn("sealed_account_id")}
		}
		return approvalAD(r.tenantID(), at)
	}},
	{table: "approval_results", primaryKey: "id", ad: func(r sealedRow) secret.AD {
		return approvalResultAD(r.tenantID(), connectors.ToolCallID{UUID: r.uuidColumn("id")})
	}},
	{table: "gateway_mail", primaryKey: "id", adColumns: "agent_id, box", ad: func(r sealedRow) secret.AD {
		return mailAD(r.tenantID(), r.uuidColumn("id"), *r.agentID(), r.textColumn("box"))
	}},
	{table: "webhooks", primaryKey: "id", ad: func(r sealedRow) secret.AD {
		return webhookSecretAD(r.tenantID(), connectors.WebhookID{UUID: r.uuidColumn("id")})
	}},
	{table: "audit_streams", primaryKey: "id", adColumns: "origin", ad: func(r sealedRow) secret.AD {
		return streamSecretAD(r.tenantID(), connectors.AuditStreamID{UUID: r.uuidColumn("id")}, r.textColumn("origin"))
	}},
	{table: "sso_settings", adColumns: "issuer", ad: func(r sealedRow) secret.AD { return ssoSecretAD(r.tenantID(), r.textColumn("issuer")) }},
	{table: "sso_tokens", primaryKey: "user_id", adColumns: "issuer", ad: func(r sealedRow) secret.AD {
		return ssoTokensAD(r.tenantID(), connectors.UserID{UUID: r.uuidColumn("user_id")}, r.textColumn("issuer"))
	}},
	{table: "signing_keys", primaryKey: "id", ad: func(r sealedRow) secret.AD { return signingKeyAD(r.tenantID(), r.uuidColumn("id")) }},
	{table: "oauth_flows", primaryKey: "id", ad: func(r sealedRow) secret.AD { return flowAD(r.tenantID(), r.uuidColumn("id")) }},
}

// keyColumns returns the columns of the primary key.
func (t sealedTable) keyColumns() []string {
	return append([]string{cmp.Or(t.tenantColumn, "tenant_id")}, splitColumns(t.primaryKey)...)
}

// otherKeyCondition selects rows p that another key sealed than the one that should: the tenant's, or for
// isInstallation the installation's, with prefix $1. For a single tenant $1 is its id.
func (t sealedTable) otherKeyCondition(one bool) string {
	const byAnother = "p.sealed is not null and not exists (select from tenant_keys k where k.tenant_id = p.tenant_id and k.prefix = substring(p.sealed from 1 for 5))"
	switch {
	case one && t.isInstallation:
		return "$1::uuid is null" // only the installation's rotation reseals it
	case one:
		return "p.tenant_id = $1::uuid and " + byAnother
	case t.isInstallation:
		return "substring(p.sealed from 1 for 5) <> $1::bytea"
	}
	return "$1::bytea is not null and " + byAnother
}

// batchQuery selects and locks rows of otherKeyCondition in primary key order, skipping locked ones. $1 is its
// parameter, $2 the row limit; with after, the last row's key follows.
func (t sealedTable) batchQuery(one, after bool) string {
	key := strings.Join(t.keyColumns(), ", ")
	from := ""
	if after {
		from = fmt.Sprintf(" and (%s) > (%s)", key, placeholders(3, len(t.keyColumns())))
	}
	return fmt.Sprintf("select %s, sealed from %s p where %s%s order by %s limit $2 for no key update of p skip locked",
		strings.Join(append(t.keyColumns(), splitColumns(t.adColumns)...), ", "), t.table, t.otherKeyCondition(one), from, key)
}

// resealQuery sets sealed to $1 if it still is $2; the key follows.
func (t sealedTable) resealQuery() string {
	return fmt.Sprintf("update %s set sealed = $1 where sealed = $2 and (%s) = (%s)",
		t.table, strings.Join(t.keyColumns(), ", "), placeholders(3, len(t.keyColumns())))
}

// remainingQuery counts the rows of otherKeyCondition in all tables. $1 is its parameter.
func remainingQuery(one bool) string {
	counts := make([]string, len(sealedTables))
	for i, p := range sealedTables {
		counts[i] = fmt.Sprintf("(select count(*) from %s p where %s)", p.table, p.otherKeyCondition(one))
	}
	return "select " + strings.Join(counts, " + ")
}

func splitColumns(list string) []string {
	return strings.FieldsFunc(list, func(c rune) bool { return c == ',' || c == ' ' })
}

func placeholders(first, n int) string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf("$%d", first+i)
	}
	return strings.Join(all, ", ")
}

// keyValues returns the values of a row's primary key.
func (t sealedTable) keyValues(r sealedRow) []any {
	key := make([]any, 0, len(t.keyColumns()))
	for _, column := range t.keyColumns() {
		key = append(key, r[column])
	}
	return key
}

// sealedRow is a row of a sealed table, by column name.
type sealedRow map[string]any

func (r sealedRow) sealedBytes() []byte {
	b, _ := r["sealed"].([]byte)
	return b
}

func (r sealedRow) tenantID() connectors.TenantID {
	return connectors.TenantID{UUID: r.uuidColumn("tenant_id")}
}

func (r sealedRow) textColumn(column string) string {
	s, _ := r[column].(string)
	return s
}

func (r sealedRow) uuidColumn(column string) uuid.UUID {
	id, _ := r[column].([16]byte)
	return id
}

func (r sealedRow) agentID() *connectors.AgentID {
	if r["agent_id"] == nil {
		return nil
	}
	return &connectors.AgentID{UUID: r.uuidColumn("agent_id")}
}

// describeRow names the row for an operator.
func (t sealedTable) describeRow(r sealedRow) string {
	var b strings.Builder
	b.WriteString(t.table)
	for _, column := range append(t.keyColumns(), splitColumns(t.adColumns)...) {
		switch v := r[column].(type) {
		case [16]byte:
			fmt.Fprintf(&b, " %s=%s", column, uuid.UUID(v))
		case string:
			fmt.Fprintf(&b, " %s=%q", column, v)
		}
	}
	return b.String()
}
