package settings

import (
	"encoding/json"
	"strings"
	"testing"

	"patchbay/internal/auditsentence"
	"patchbay/internal/store"
)

func TestAuditSentence_EveryActionHasOne(t *testing.T) {
	t.Parallel()
	if len(store.Actions) < 80 {
		t.Fatalf("%d actions are known", len(store.Actions))
	}
	for action := range store.Actions {
		for _, detail := range []string{`{}`, `{"agent": "bot", "role": "admin", "name": "N", "after": {"name": "N"}}`} {
			said := auditsentence.Write(t.Context(), auditsentence.Entry{Actor: "Ada", Action: action, Target: "left/right", Detail: json.RawMessage(detail)}, auditsentence.Names{})
			if !strings.HasPrefix(said, "Ada ") || strings.Contains(said, action) || strings.Contains(said, "%!") {
				t.Errorf("%s: %q", action, said)
			}
		}
	}
}

func TestAuditSentence_NamesPeopleAndThings(t *testing.T) {
	t.Parallel()
	names := auditsentence.Names{Agents: map[string]string{"support-bot": "Support bot"}, Connectors: map[string]string{"linear": "Linear"}}
	for want, e := range map[string]auditsentence.Entry{
		"Ada Keller granted Support bot all tools of Linear":              {Actor: "Ada Keller", Action: "agent_grant.set", Target: "support-bot/linear", Detail: json.RawMessage(`{"tools": "all"}`)},
		"Ada Keller granted Support bot 1 tool of Linear":                 {Actor: "Ada Keller", Action: "agent_grant.set", Target: "support-bot/linear", Detail: json.RawMessage(`{"tools": ["a"]}`)},
		"Ada Keller changed the access of Support bot to Linear: 2 tools": {Actor: "Ada Keller", Action: "agent_grant.set", Target: "support-bot/linear", Detail: json.RawMessage(`{"tools": ["a", "b"], "before": {"all_tools": true}}`)},
		"Ada Keller rejected the change to create_issue of Linear":        {Actor: "Ada Keller", Action: "tool.reject", Target: "linear/create_issue"},
		"Ada Keller stored a credential for Linear, for Support bot":      {Actor: "Ada Keller", Action: "credential.set", Target: "linear", Detail: json.RawMessage(`{"agent": "support-bot"}`)},
		"Ada Keller granted Support bot all tools of Linear (home)":       {Actor: "Ada Keller", Action: "agent_grant.set", Target: "support-bot/linear", Detail: json.RawMessage(`{"tools": "all", "account": "home"}`)},
		"Ada Keller connected an account to Linear (home)":                {Actor: "Ada Keller", Action: "credential.connect", Target: "linear", Detail: json.RawMessage(`{"account": "home"}`)},
		"Patchbay lost access to Linear (home)":                           {Action: "credential.revoked", Target: "linear", Detail: json.RawMessage(`{"account": "home"}`)},
		"Patchbay lost access to Linear, for Support bot":                 {Action: "credential.revoked", Target: "linear", Detail: json.RawMessage(`{"agent": "support-bot"}`)},
		"Ada Keller connected an account to Linear":                       {Actor: "Ada Keller", Action: "credential.connect", Target: "linear", Detail: json.RawMessage(`{"account": "default"}`)},
		"Patchbay disabled the webhook Ops after failed deliveries":       {Action: "webhook.disable", Target: "Ops"},
		"Ada Keller changed the role of kim@example.com to viewer":        {Actor: "Ada Keller", Action: "member.role", Target: "kim@example.com", Detail: json.RawMessage(`{"role": "viewer"}`)},
		"Ada Keller created the agent gone":                               {Actor: "Ada Keller", Action: "agent.create", Target: "gone"},
	} {
		if said := auditsentence.Write(t.Context(), e, names); said != want {
			t.Errorf("%q, not %q", said, want)
		}
	}
}
