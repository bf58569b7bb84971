package connectors_test

import (
	"testing"
	"time"

	"patchbay/internal/connectors"
)

func TestNotice_NamesTheAccount(t *testing.T) {
	t.Parallel()
	c := connectors.ConnectorName{Slug: "notes", Name: "Notes"}
	support := connectors.AgentName{Slug: "support", Name: "Support"}
	keys := map[string]bool{}
	for of, want := range map[connectors.NoticeAccount][2]string{
		{}:                             {"Notes", "shared"},
		{Name: "home"}:                 {"Notes (home)", "shared.home"},
		{Agent: support}:               {"Notes (Support)", "support"},
		{Agent: support, Name: "home"}: {"Notes (Support · home)", "support.home"},
	} {
		link := "/connectors/notes/credentials#credential-" + want[1]
		ended := connectors.NeedsAuthNotice(c, of, "It ended.", nil)
		if ended.Title != want[0]+" needs authorization" || ended.Link != link || of.Name != "" && ended.Data["account"] != of.Name || keys[ended.Key] {
			t.Errorf("%+v: %+v", of, ended)
		}
		keys[ended.Key] = true
		lapsing := connectors.LapsingNotice(connectors.CredentialID{}, c, of, time.Now())
		if lapsing.Title != "Access to "+want[0]+" expires soon" || lapsing.Link != link {
			t.Errorf("%+v: %+v", of, lapsing)
		}
	}
	alone := connectors.NeedsAuthNotice(c, connectors.NoticeAccount{Name: connectors.DefaultAccount}, "It ended.", nil)
	if alone.Title != "Notes needs authorization" || alone.Key != "needs_auth "+c.ID.String()+" " || alone.Data["account"] != nil {
		t.Errorf("the only account: %+v", alone)
	}
}
