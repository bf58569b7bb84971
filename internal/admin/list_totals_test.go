package admin_test

import (
	"fmt"
	"net/http"
	"testing"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
)

func TestLists_SayHowManyThereAre(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	c := d.Connector(t, func(n *connectors.Draft) {
		n.Name, n.Auth.Type, n.CredentialMode = "Linear", connectors.AuthBearer, connectors.CredentialPerAgent
	})
	hook, _ := d.createWebhook(d.Tenant)
	var items []connectors.Item
	var first connectors.Agent
	for i := range 31 {
		a := d.Agent(t, func(a *connectors.Agent) { a.Name, a.Slug = fmt.Sprintf("Agent %02d", i), fmt.Sprintf("agent-%02d", i) })
		if i == 0 {
			first = a
		}
		d.Grant(t, a.ID, c.ID)
		if err := d.Door().People().AddNotice(t.Context(), store.NewNotice{Kind: connectors.NoticeDown, Title: fmt.Sprintf("Down %d", i)}); err != nil {
			t.Fatal(err)
		}
		if err := d.Door().Audit().Record(t.Context(), store.Event{ActorType: "operator", Action: "account.sign_out", Target: a.Slug}); err != nil {
			t.Fatal(err)
		}
		items = append(items,
			connectors.Item{Kind: connectors.ItemPrompt, Key: fmt.Sprintf("ask%02d", i), Raw: fmt.Appendf(nil, `{"name":"ask%02d"}`, i)},
			connectors.Item{Kind: connectors.ItemResource, Key: fmt.Sprintf("file:///%02d", i), Raw: fmt.Appendf(nil, `{"uri":"file:///%02d","name":"File"}`, i)})
	}
	d.saveItems(c, items...)
	for range 31 {
		d.createWaitingCall(d.Tenant, first, c)
	}
	owner := d.signInAsRole(connectors.RoleOwner)
	for path, want := range map[string]string{
		"/notices":                      "1–30 of 63",
		"/approvals":                    "1–25 of 31",
		"/webhooks/" + hook.ID.String(): "1–25 of 63",
		"/connectors/" + c.Slug + "/prompts?size=25":              "1–25 of 31",
		"/connectors/" + c.Slug + "/prompts?size=25&q=ask":        "1–25 of 31",
		"/connectors/" + c.Slug + "/resources?size=25":            "1–25 of 31",
		"/connectors/" + c.Slug + "/credentials?size=25":          "1–25 of 31",
		"/connectors/" + c.Slug + "/credentials?size=25&q=agent+": "1–25 of 31",
		"/connectors/" + c.Slug + "/credentials/missing?size=25":  "1–25 of 31",
		"/audit?size=25&action=account":                           "1–25 of 32",
	} {
		owner.get(path).want(t, http.StatusOK, want)
	}
}
