package gateway_test

import (
	"strings"
	"testing"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
)

// TestSkills_FirstSyncFollowsPolicy checks that no skill is served that the connector's policy holds.
func TestSkills_FirstSyncFollowsPolicy(t *testing.T) {
	t.Parallel()
	for policy, served := range map[connectors.ToolChangePolicy]bool{
		connectors.ToolChangesAuto: true, connectors.ToolChangesHoldRisky: false, connectors.ToolChangesHoldAll: false,
	} {
		t.Run(string(policy), func(t *testing.T) {
			t.Parallel()
			env := newTestEnv(t)
			agent := env.newAutoAgent(t)
			c := env.newConnector(t, "one", newSkillServer(t, "one", modern).URL, func(d *connectors.Draft) { d.ToolChanges = policy })
			env.Grant(t, agent.ID, c.ID)
			for _, at := range skillAddresses {
				client := newSkillClient(t, env.url+at.path, env.Token(t, agent.ID), modern)
				if got := client.send("skills/list", `{}`); strings.Contains(got, "refunds") != served {
					t.Errorf("%s: %s", at.path, got)
				}
				if got := client.send("resources/read", uriParams(at.uri(refundsMail))); strings.HasPrefix(got, "error ") == served {
					t.Errorf("%s: %s", at.path, got)
				}
			}
			changes, err := env.St.Tenant(env.Tenant).Tools().ChangesOf(t.Context(), c.ID, connectors.SkillTool(refundsSkill), store.Page{Limit: 5})
			if err != nil {
				t.Fatal(err)
			}
			if len(changes.Items) != 1 || (changes.Items[0].State == connectors.ChangeWaiting) == served {
				t.Errorf("changes %+v", changes.Items)
			}
		})
	}
}

// TestSkills_AcceptedIsWithdrawn checks a skill that an admin rejects after it was accepted, and the ways back.
func TestSkills_AcceptedIsWithdrawn(t *testing.T) {
	t.Parallel()
	env, _, token := newSkillEnv(t, modern)
	st := env.St.Tenant(env.Tenant)
	c, err := st.Connectors().Get(t.Context(), "one")
	if err != nil {
		t.Fatal(err)
	}
	tool := connectors.SkillTool(refundsSkill)
	check := func(step string, served bool) {
		t.Helper()
		for _, at := range skillAddresses {
			client := newSkillClient(t, env.url+at.path, token, modern)
			for _, uri := range []string{refundsSkill, refundsMail} {
				if got := client.send("resources/read", uriParams(at.uri(uri))); strings.HasPrefix(got, "error ") == served {
					t.Errorf("%s: %s: read %s: %s", step, at.path, uri, got)
				}
			}
			if got := client.send("skills/get", uriParams(at.uri(refundsSkill))); strings.HasPrefix(got, "error ") == served {
				t.Errorf("%s: %s: %s", step, at.path, got)
			}
		}
	}
	undo := func() {
		t.Helper()
		decided, err := st.Tools().Decided(t.Context(), []connectors.Ref{"one"}, []string{tool})
		if err != nil || len(decided) != 1 {
			t.Fatalf("%v, %v", decided, err)
		}
		if _, err := st.Tools().Undo(t.Context(), decided[0].Decision, "Bob"); err != nil {
			t.Fatal(err)
		}
	}
	check("accepted", true)
	env.decideSkill(t, "one", false)
	check("withdrawn", false)
	env.resync(t, "one")
	check("synced", false)
	undo()
	check("withdrawal undone", true)
	undo()
	check("withdrawn again", false)
	env.decideSkill(t, "one", true)
	check("accepted again", true)
	undo()
	check("acceptance undone", false)
	skill, err := st.Skills().Get(t.Context(), c.ID, refundsSkill)
	if err != nil || skill.Accepted != nil || skill.Review != connectors.ReviewRejected {
		t.Errorf("%+v, %v", skill, err)
	}
}

// TestSkills_EarlierIsWithdrawn rejects the version that agents keep while the server lists another one.
func TestSkills_EarlierIsWithdrawn(t *testing.T) {
	t.Parallel()
	env, servers, token := newSkillEnv(t, modern)
	st := env.St.Tenant(env.Tenant)
	c, err := st.Connectors().Get(t.Context(), "one")
	if err != nil {
		t.Fatal(err)
	}
	servers["one"].change(func() { servers["one"].files["skill://acme/refunds/more.md"] = "more" })
	env.resync(t, "one")
	env.decideSkill(t, "one", false)
	client := newSkillClient(t, env.url+"/mcp/one", token, modern)
	if got := client.send("resources/read", uriParams(refundsMail)); strings.HasPrefix(got, "error ") {
		t.Errorf("the accepted version: %s", got)
	}
	kept, err := st.Skills().Get(t.Context(), c.ID, refundsSkill)
	if err != nil || kept.Accepted == nil {
		t.Fatalf("%+v, %v", kept, err)
	}
	d := store.ToolDecision{Connector: c.ID, Tool: connectors.SkillTool(refundsSkill), Hash: &kept.Accepted.Hash, By: "Ada"}
	if err := st.Tools().Decide(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	if got := client.send("resources/read", uriParams(refundsMail)); !strings.HasPrefix(got, "error ") {
		t.Errorf("after the withdrawal: %s", got)
	}
}
