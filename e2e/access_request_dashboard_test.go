//go:build e2e

package e2e_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"patchbay/internal/testing/browser"
)

// TestAMemberAsksAndAnAdminGrantsUntilAnEnd goes from an agent's refusal to the page that it names, the admin's answer, the call that works,
// and the end of the access.
func TestAMemberAsksAndAnAdminGrantsUntilAnEnd(t *testing.T) {
	t.Parallel()
	h, s, admin, c := seeded(t)
	c.must(http.StatusOK, http.MethodPost, "/connectors/tools/sync_tools", nil)
	walker := c.hire("walker", "tools")
	c.must(http.StatusNoContent, http.MethodPut, "/api/v1/agents/walker/connectors/tools", object{"tools": []string{"list_labels"}})
	refused := <-walker.ask("mcp_tools__search_issues", `{"query":"login"}`)
	_, page, found := strings.Cut(string(refused.Result), `"ask_url":"`)
	if !found {
		t.Fatalf("the refusal names no page: %v %s", refused.err, refused.Result)
	}
	page, _, _ = strings.Cut(page, `"`)

	h.env = append(h.env, "PATCHBAY_PASSWORD="+ownerPassword)
	h.run("user", "create", "--tenant", "acorn", "--email", "kim@acorn.example", "--role", "member", "--name", "Kim")
	member := browser.Open(t)
	member.Go(s.base + "/login")
	member.Fill("[name=email]", "kim@acorn.example")
	member.Fill("[name=password]", ownerPassword)
	member.Click("main form button[type=submit]")
	member.WaitPath("/")
	member.Go(strings.ReplaceAll(page, `\u0026`, "&"))
	look := newLooker(t, member)
	look.at("access-ask")
	member.Fill("textarea[name=reason]", "For tonight's report.")
	asker := member.Count()
	asker.Click("main form[action='/access/request'] button[type=submit]")
	asker.WaitText("main", "Waiting for a decision")
	asker.AtMost(2, "asking")

	admin.Go(s.base + "/")
	admin.WaitText("main", "Kim asks for walker")
	look = newLooker(t, admin)
	look.at("home-access-request")
	decider := admin.Count()
	decider.Click("main a.btn[href^='/access/requests/']")
	decider.WaitText("main", "For tonight's report.")
	look.at("access-request")
	decider.Click("main form[action$='/accept'] button:not([formaction])")
	decider.WaitText("main", "Accepted")
	decider.AtMost(2, "answering")
	eventually(t, func() error {
		if got := <-walker.ask("mcp_tools__search_issues", `{"query":"login"}`); !strings.Contains(string(got.Result), "issues found") {
			return fmt.Errorf("after it was accepted: %v %s", got.err, got.Result)
		}
		return nil
	})
	member.Go(s.base + "/")
	member.WaitText("main", "Accepted by Owner")

	end := time.Now().Add(3 * time.Second).Truncate(time.Second)
	c.must(http.StatusNoContent, http.MethodPut, "/api/v1/agents/walker/connectors/tools", object{
		"tools": []string{"list_labels"}, "ends": object{"tools": []object{{"tool": "search_issues", "until": end}}},
	})
	var ended time.Time
	eventually(t, func() error {
		got := <-walker.ask("mcp_tools__search_issues", `{"query":"login"}`)
		if !strings.Contains(string(got.Result), "not_granted") {
			return fmt.Errorf("the access has not ended: %v %s", got.err, got.Result)
		}
		ended = time.Now()
		return nil
	})
	if early, late := end.Sub(ended), ended.Sub(end); early > time.Second || late > 10*time.Second {
		t.Errorf("the access ended at %s, not at %s", ended, end)
	}
	(<-walker.ask("mcp_tools__list_labels", `{}`)).wants(t, "good first issue")
}
