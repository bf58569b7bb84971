package mcpadmin_test

import (
	"strings"
	"testing"
	"time"

	"patchbay/internal/connectors"
)

type accessRequest struct {
	ID        string
	State     string
	Page      string
	Until     *time.Time
	Untrusted struct {
		Tools                            []string
		Reason, AskedBy, DecidedBy, Note string
	}
}

// A member asks, and an admin accepts with another end after a confirmation.
func TestAccessRequests_AskedAndDecided(t *testing.T) {
	t.Parallel()
	for _, revision := range []string{newest, before} {
		t.Run(revision, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			c, agent := w.seedTool(t)
			if err := w.Door().Agents().DropGrant(t.Context(), agent.ID, c.ID); err != nil {
				t.Fatal(err)
			}
			member := w.connect(t, w.newAPIKey(t, w.Tenant, connectors.RoleMember), revision, "accept")
			admin := w.connect(t, w.newAPIKey(t, w.Tenant, connectors.RoleAdmin), revision, "accept")
			end, sooner := time.Now().Add(48*time.Hour).UTC().Truncate(time.Second), time.Now().Add(24*time.Hour).UTC().Truncate(time.Second)

			var asked accessRequest
			member.callTool(t, "ask_access", map[string]any{
				"agent": agent.Slug, "connector": c.Slug, "tools": []string{"search"}, "reason": marker, "until": end.Format(time.RFC3339),
			}, &asked)
			if asked.State != "open" || asked.Until == nil || !asked.Until.Equal(end) || asked.Untrusted.Reason != marker || asked.Page != w.url+"/access/requests/"+asked.ID {
				t.Errorf("asked %+v", asked)
			}
			if code, _ := member.callRefused(t, "decide_access_request", map[string]any{"request": asked.ID, "verdict": "accept"}); code != "denied" {
				t.Errorf("a member decides: %s", code)
			}

			var list struct{ Items []accessRequest }
			admin.callTool(t, "list_access_requests", map[string]any{}, &list)
			if len(list.Items) != 1 || list.Items[0].ID != asked.ID {
				t.Fatalf("listed %+v", list)
			}
			var decided accessRequest
			admin.callTool(t, "decide_access_request", map[string]any{"request": asked.ID, "verdict": "accept", "until": sooner.Format(time.RFC3339), "note": "Fine."}, &decided)
			says := admin.questions[len(admin.questions)-1]
			for _, part := range []string{marker, `"search"`, "until " + sooner.Format(time.RFC3339), asked.Page, "may delete or overwrite data: 1."} {
				if !strings.Contains(says, part) {
					t.Errorf("the admin was asked %q, without %s", says, part)
				}
			}
			if decided.State != "accepted" || decided.Untrusted.Note != "Fine." {
				t.Errorf("decided %+v", decided)
			}
			granted, err := w.Door().Agents().Grant(t.Context(), agent.ID, c.ID)
			if err != nil || !granted.At(time.Now()).Includes("search") || granted.Until() == nil || !granted.Until().Equal(sooner) {
				t.Errorf("granted %+v, %v", granted.Grant, err)
			}
			if code, _ := admin.callRefused(t, "decide_access_request", map[string]any{"request": asked.ID, "verdict": "refuse"}); code != "conflict" {
				t.Errorf("decided twice: %s", code)
			}
		})
	}
}

// Without a person's agreement no request is decided or withdrawn.
func TestAccessRequests_NeedConfirmation(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c, agent := w.seedTool(t)
	if err := w.Door().Agents().DropGrant(t.Context(), agent.ID, c.ID); err != nil {
		t.Fatal(err)
	}
	key := w.newAPIKey(t, w.Tenant, connectors.RoleAdmin)
	agrees, declines := w.connect(t, key, newest, "accept"), w.connect(t, key, newest, "decline")
	ask := map[string]any{"agent": agent.Slug, "connector": c.Slug, "all_tools": true, "reason": "For the report."}
	var asked accessRequest
	agrees.callTool(t, "ask_access", ask, &asked)
	for tool, arguments := range map[string]map[string]any{
		"decide_access_request": {"request": asked.ID, "verdict": "accept"}, "withdraw_access_request": {"request": asked.ID},
	} {
		if code, _ := declines.callRefused(t, tool, arguments); code != "declined" {
			t.Errorf("%s is refused as %s", tool, code)
		}
	}
	var list struct{ Items []accessRequest }
	agrees.callTool(t, "list_access_requests", nil, &list)
	if len(list.Items) != 1 || list.Items[0].State != "open" {
		t.Errorf("listed %+v", list)
	}
	agrees.callTool(t, "withdraw_access_request", map[string]any{"request": asked.ID}, nil)
	agrees.callTool(t, "list_access_requests", map[string]any{"state": "withdrawn"}, &list)
	if len(list.Items) != 1 || list.Items[0].ID != asked.ID {
		t.Errorf("withdrawn: %+v", list)
	}
}
