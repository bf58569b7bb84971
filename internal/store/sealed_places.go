package store

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/google/uuid"

	"patchbay/internal/connectors"
	"patchbay/internal/secret"
)

// sealedPlace is a table with a column "sealed".
type sealedPlace struct {
	table string
	key   string // its primary key after tenant_id
	ours  bool   // the installation's key seals it: it is no tenant's, or a tenant's key itself
	of    string // whose rows these are, by the first column of the primary key; empty: tenant_id
	more  string // what else names the place of a secret
	place func(r sealedRow) secret.AD
}

// sealedPlaces is where secrets lie: every table that has a column "sealed", which a test holds. A rotation seals all of them anew.
var sealedPlaces = []sealedPlace{
	{table: "tenant_keys", ours: true, place: func(r sealedRow) secret.AD { return tenantKeyPlace(r.tenant().String()) }},
	{table: "second_factors", ours: true, of: "user_id", place: func(r sealedRow) secret.AD {
		return secondFactorPlace(connectors.UserID{UUID: r.uuid("user_id")})
	}},
	{table: "credentials", key: "id", more: "connector_id, agent_id, origin", place: func(r sealedRow) secret.AD {
		return credentialPlace(r.tenant(), connectors.ConnectorID{UUID: r.uuid("connector_id")}, r.agent(), r.text("origin"))
	}},
	{table: "account_revocations", key: "id", more: "connector_id, agent_id, origin", place: func(r sealedRow) secret.AD {
		return credentialPlace(r.tenant(), connectors.ConnectorID{UUID: r.uuid("connector_id")}, r.agent(), r.text("origin"))
	}},
	{table: "revocation_clients", key: "id", more: "connector_id, client_id, origin, issuer", place: func(r sealedRow) secret.AD {
		return clientPlace(r.tenant(), connectors.ConnectorID{UUID: r.uuid("connector_id")}, r.text("client_id"), r.text("origin"), r.text("issuer"))
	}},
	{table: "client_registrations", key: "issuer, redirect_uri", more: "client_id", place: func(r sealedRow) secret.AD {
		return registrationPlace(r.tenant(), r.text("issuer"), r.text("redirect_uri"), r.text("client_id"))
	}},
	{table: "connector_clients", key: "connector_id", more: "client_id, origin, issuer", place: func(r sealedRow) secret.AD {
		return clientPlace(r.tenant(), connectors.ConnectorID{UUID: r.uuid("connector_id")}, r.text("client_id"), r.text("origin"), r.text("issuer"))
	}},
	{table: "connector_envs", key: "connector_id", more: "program", place: func(r sealedRow) secret.AD {
		return environmentPlace(r.tenant(), connectors.ConnectorID{UUID: r.uuid("connector_id")}, r.text("program"))
	}},
	{table: "approvals", key: "id", more: "agent_id, connector_id", place: func(r sealedRow) secret.AD {
		return approvalPlace(r.tenant(), connectors.ToolCallID{UUID: r.uuid("id")}, *r.agent(), connectors.ConnectorID{UUID: r.uuid("connector_id")})
	}},
	{table: "approval_results", key: "id", place: func(r sealedRow) secret.AD {
		return approvalResultPlace(r.tenant(), connectors.ToolCallID{UUID: r.uuid("id")})
	}},
	{table: "gateway_mail", key: "id", more: "agent_id, box", place: func(r sealedRow) secret.AD {
		return mailPlace(r.tenant(), r.uuid("id"), *r.agent(), r.text("box"))
	}},
	{table: "webhooks", key: "id", place: func(r sealedRow) secret.AD {
		return webhookPlace(r.tenant(), connectors.WebhookID{UUID: r.uuid("id")})
	}},
	{table: "sso_settings", more: "issuer", place: func(r sealedRow) secret.AD { return ssoPlace(r.tenant(), r.text("issuer")) }},
	{table: "oauth_flows", key: "id", place: func(r sealedRow) secret.AD { return flowPlace(r.tenant(), r.uuid("id")) }},
}

// keyColumns are the primary key's.
func (p sealedPlace) keyColumns() []string {
	return append([]string{cmp.Or(p.of, "tenant_id")}, columns(p.key)...)
}

// elsewhere is the condition of a row p that another key has sealed than the one that should: its tenant's, in every place but those that
// the installation's seals, whose prefix is $1. Of one tenant alone $1 is its id.
func (p sealedPlace) elsewhere(one bool) string {
	const byAnother = "p.sealed is not null and not exists (select from tenant_keys k where k.tenant_id = p.tenant_id and k.prefix = substring(p.sealed from 1 for 5))"
	switch {
	case one && p.ours:
		return "$1::uuid is null" // the installation's business
	case one:
		return "p.tenant_id = $1::uuid and " + byAnother
	case p.ours:
		return "substring(p.sealed from 1 for 5) <> $1::bytea"
	}
	return "$1::bytea is not null and " + byAnother
}

// batchQuery reads and locks rows that another key has sealed, in the order of the primary key; those that somebody else is about
// to change are left for later. $1 is that of elsewhere, $2 the most rows; with after, the last row's key follows.
func (p sealedPlace) batchQuery(one, after bool) string {
	key := strings.Join(p.keyColumns(), ", ")
	from := ""
	if after {
		from = fmt.Sprintf(" and (%s) > (%s)", key, parameters(3, len(p.keyColumns())))
	}
	return fmt.Sprintf("select %s, sealed from %s p where %s%s order by %s limit $2 for no key update of p skip locked",
		strings.Join(append(p.keyColumns(), columns(p.more)...), ", "), p.table, p.elsewhere(one), from, key)
}

// resealQuery changes nothing but sealed, and that only where it still is what was opened. $1 is new, $2 old, the key follows.
func (p sealedPlace) resealQuery() string {
	return fmt.Sprintf("update %s set sealed = $1 where sealed = $2 and (%s) = (%s)",
		p.table, strings.Join(p.keyColumns(), ", "), parameters(3, len(p.keyColumns())))
}

// leftQuery counts the rows of all places that another key has sealed than the one that should. $1 is that of elsewhere.
func leftQuery(one bool) string {
	counts := make([]string, len(sealedPlaces))
	for i, p := range sealedPlaces {
		counts[i] = fmt.Sprintf("(select count(*) from %s p where %s)", p.table, p.elsewhere(one))
	}
	return "select " + strings.Join(counts, " + ")
}

func columns(list string) []string {
	return strings.FieldsFunc(list, func(c rune) bool { return c == ',' || c == ' ' })
}

func parameters(first, n int) string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf("$%d", first+i)
	}
	return strings.Join(all, ", ")
}

// keyOf are the values of a row's primary key.
func (p sealedPlace) keyOf(r sealedRow) []any {
	key := make([]any, 0, len(p.keyColumns()))
	for _, column := range p.keyColumns() {
		key = append(key, r[column])
	}
	return key
}

// sealedRow is a row of a sealed place, by its columns' names.
type sealedRow map[string]any

func (r sealedRow) sealed() []byte {
	b, _ := r["sealed"].([]byte)
	return b
}

func (r sealedRow) tenant() connectors.TenantID {
	return connectors.TenantID{UUID: r.uuid("tenant_id")}
}

func (r sealedRow) text(column string) string {
	s, _ := r[column].(string)
	return s
}

func (r sealedRow) uuid(column string) uuid.UUID {
	id, _ := r[column].([16]byte)
	return id
}

func (r sealedRow) agent() *connectors.AgentID {
	if r["agent_id"] == nil {
		return nil
	}
	return &connectors.AgentID{UUID: r.uuid("agent_id")}
}

// describe names the row for an operator.
func (p sealedPlace) describe(r sealedRow) string {
	var b strings.Builder
	b.WriteString(p.table)
	for _, column := range append(p.keyColumns(), columns(p.more)...) {
		switch v := r[column].(type) {
		case [16]byte:
			fmt.Fprintf(&b, " %s=%s", column, uuid.UUID(v))
		case string:
			fmt.Fprintf(&b, " %s=%q", column, v)
		}
	}
	return b.String()
}
