package toolsearch_test

import (
	"testing"

	"patchbay/internal/toolsearch"
)

var sample = []toolsearch.Tool{
	{Name: "create_issue", Description: "Create a new issue in a repository.", Connector: "github", ConnectorName: "GitHub"},
	{Name: "list_issues", Description: "List issues of a repository.", Connector: "github", ConnectorName: "GitHub"},
	{Name: "sendMessage", Description: "Post a message to a channel", Connector: "slack", ConnectorName: "Slack"},
	{Name: "delete_file", Title: "Delete a file", Connector: "drive", ConnectorName: "Google Drive"},
}

func TestSearch_FindsTheTool(t *testing.T) {
	x := toolsearch.New(sample)
	for question, want := range map[string]string{
		"open a new ticket":           "create_issue",
		"show me the open bugs":       "list_issues",
		"send messages":               "sendMessage",
		"how do I remove documents":   "delete_file",
		"post to a Slack channel":     "sendMessage",
		"What issues are in the repo": "list_issues",
	} {
		hits := x.Search(question, 3, nil)
		if len(hits) == 0 || sample[hits[0].Tool].Name != want {
			t.Errorf("%q: got %+v, want %s", question, hits, want)
		}
	}
}
