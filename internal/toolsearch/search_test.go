package toolsearch_test

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"patchbay/internal/toolsearch"
)

var sample = []toolsearch.Tool{
	{Name: "github__create_issue", Description: "Create a new issue in a repository.", Connector: "github", ConnectorName: "GitHub"},
	{Name: "github__list_issues", Description: "List issues of a repository.", Connector: "github", ConnectorName: "GitHub"},
	{Name: "github__create_pull_request", Description: "Create a pull request.", Connector: "github", ConnectorName: "GitHub"},
	{Name: "sendMessage", Description: "Post a message to a channel", Connector: "slack", ConnectorName: "Slack"},
	{Name: "getHTTPLogs", Description: "Protokolle für Übersichten", Connector: "logs", Tags: []string{"observability"}},
	{Name: "create_webhook", Description: "Registers a callback", Connector: "acme", Params: []toolsearch.Param{{Name: "retry_limit", Description: "attempts\nexponential linear"}}},
	{Name: "delete_file", Title: "Delete a file", Connector: "drive", ConnectorName: "Google Drive"},
	{Name: "create_issue", Description: "Create a new issue in a project.", Connector: "linear", ConnectorName: "Linear"},
}

func namesOf(tools []toolsearch.Tool, hits []toolsearch.Hit) []string {
	var names []string
	for _, hit := range hits {
		names = append(names, tools[hit.Tool].Name)
	}
	return names
}

func TestSearch_FindsTheTool(t *testing.T) {
	t.Parallel()
	x := toolsearch.New(sample)
	for _, row := range []struct{ name, question, want string }{
		{"synonyms", "open a new ticket on github", "github__create_issue"},
		{"plural and synonym", "show me the open bugs", "github__list_issues"},
		{"camelCase", "send messages", "sendMessage"},
		{"capitals in a name", "http log", "getHTTPLogs"},
		{"marks", "ubersichten", "getHTTPLogs"},
		{"combining marks", "U\u0308bersichten", "getHTTPLogs"},
		{"tag", "observability", "getHTTPLogs"},
		{"question", "how do I remove documents", "delete_file"},
		{"two words for one", "add a web hook", "create_webhook"},
		{"parameter", "set the retry limit", "create_webhook"},
		{"enum value", "exponential", "create_webhook"},
		{"misspelled", "create a webhok", "create_webhook"},
		{"swapped letters", "delete a flie", "delete_file"},
		{"beginning of a word", "observ", "getHTTPLogs"},
		{"connector", "create an issue in linear", "create_issue"},
		{"no verb", "what issues are in the repo", "github__list_issues"},
		{"one word of two", "pullrequest", "github__create_pull_request"},
	} {
		found := namesOf(sample, x.Search(row.question, 3, nil))
		if len(found) == 0 || found[0] != row.want {
			t.Errorf("%s: %q finds %v, want %s", row.name, row.question, found, row.want)
		}
	}
	for _, question := range []string{"", "the of and", "zzzzqqqq", "\xff\xfe", "!!!", "漢字"} {
		if hits := x.Search(question, 3, nil); len(hits) != 0 {
			t.Errorf("%q finds %v", question, namesOf(sample, hits))
		}
	}
}

func TestSearch_NoTools(t *testing.T) {
	t.Parallel()
	x := toolsearch.New(nil)
	learned := learnWords(nil, "create issue", "create_issue")
	if hits := x.Search("create issue", 10, learned); len(hits) != 0 {
		t.Errorf("%d hits", len(hits))
	}
	if hits := toolsearch.New(sample).Search("create issue", 0, learned); len(hits) != 0 {
		t.Errorf("%d hits with limit 0", len(hits))
	}
}

func TestSearch_OrdersEqualToolsByName(t *testing.T) {
	t.Parallel()
	var tools []toolsearch.Tool
	for _, name := range []string{"c", "a", "d", "b"} {
		tools = append(tools, toolsearch.Tool{Name: name, Description: "Reads the weather"})
	}
	x := toolsearch.New(tools)
	for range 20 {
		if found := namesOf(tools, x.Search("weather", 3, nil)); !slices.Equal(found, []string{"a", "b", "c"}) {
			t.Fatalf("%v", found)
		}
	}
}

func TestSearch_GivesReasons(t *testing.T) {
	t.Parallel()
	x := toolsearch.New(sample)
	learned := learnWords(nil, "escalate a ticket", "github__create_issue")
	hits := x.Search("escalate: create a github ticket", 1, learned)
	if len(hits) != 1 || sample[hits[0].Tool].Name != "github__create_issue" {
		t.Fatalf("%+v", hits)
	}
	var sum float64
	fields := map[toolsearch.Field]bool{}
	for _, reason := range hits[0].Reasons {
		sum += reason.Share
		fields[reason.Field] = true
		if reason.Word == "" || reason.Term == "" || reason.Share <= 0 {
			t.Errorf("%+v", reason)
		}
	}
	if !fields[toolsearch.FieldName] || !fields[toolsearch.FieldHistory] || len(hits[0].Reasons) > 6 || sum <= 0 || sum > 1.0001 {
		t.Errorf("shares sum up to %.3f: %+v", sum, hits[0].Reasons)
	}
	for i := range hits[0].Reasons[1:] {
		if hits[0].Reasons[i].Share < hits[0].Reasons[i+1].Share {
			t.Errorf("reason %d is stronger than the one before", i+1)
		}
	}
}

func TestSearch_PrefersWhatHistoryTells(t *testing.T) {
	t.Parallel()
	x := toolsearch.New(sample)
	const words = "file a complaint"
	if found := namesOf(sample, x.Search(words, 3, nil)); len(found) == 0 || found[0] == "create_issue" {
		t.Fatalf("without history: %v", found)
	}
	var learned toolsearch.Learned
	for range 3 {
		learned = learnWords(learned, "file the customer's complaint", "create_issue")
	}
	learned = learnWords(learned, "file a complaint", "a tool that is gone")
	if found := namesOf(sample, x.Search(words, 3, learned)); len(found) == 0 || found[0] != "create_issue" {
		t.Errorf("with history: %v", found)
	}
	if found := namesOf(sample, x.Search("delete the file", 1, learned)); len(found) == 0 || found[0] != "delete_file" {
		t.Errorf("another question with a word of it: %v", found)
	}
}

// hostileTools are as large as servers may make them.
func hostileTools() []toolsearch.Tool {
	huge := strings.Repeat("word another "+strings.Repeat("x", 5000)+" ", 200)
	params := make([]toolsearch.Param, 10_000)
	for i := range params {
		params[i] = toolsearch.Param{Name: strings.Repeat("p", i%300), Description: huge}
	}
	tags := make([]string, 10_000)
	for i := range tags {
		tags[i] = huge
	}
	return []toolsearch.Tool{
		{Name: huge, Title: huge, Description: huge, Connector: huge, ConnectorName: huge, Tags: tags, Params: params},
		{},
		{Name: "\xff\xff\x00", Description: strings.Repeat("\u0301", 100_000)},
		{Name: "fine", Description: "Fine"},
	}
}

func TestNew_HostileToolsAreBounded(t *testing.T) {
	tools := hostileTools()
	x := toolsearch.New(tools)
	if x.Bytes() > 64<<10+len(tools[0].Name) { // the names stay whole: they are the caller's
		t.Errorf("%d bytes", x.Bytes())
	}
	if hits := x.Search("fine", 10, nil); len(hits) != 1 || tools[hits[0].Tool].Name != "fine" {
		t.Errorf("%+v", hits)
	}
	long := strings.Repeat("word ", 1<<20)
	if allocated := testing.AllocsPerRun(10, func() { x.Search(long, 10, nil) }); allocated > 500 {
		t.Errorf("%.0f allocations for a question of 5 MiB", allocated)
	}
}

// TestSearch_ReadsABoundedQuestion shows that words behind the bounds are not read.
func TestSearch_ReadsABoundedQuestion(t *testing.T) {
	t.Parallel()
	x := toolsearch.New(sample)
	var many strings.Builder
	for i := range 64 {
		many.WriteString("q" + strings.Repeat("z", i%20) + string(rune('a'+i%26)) + " ")
	}
	for _, before := range []string{many.String(), strings.Repeat(" ", toolsearch.MaxQuestion)} {
		if hits := x.Search(before+" webhook", 3, nil); slices.Contains(namesOf(sample, hits), "create_webhook") {
			t.Errorf("a word after %d bytes is found", len(before))
		}
	}
}

// FuzzSearch asserts that any tool and any question give bounded, ordered hits, and the same again.
func FuzzSearch(f *testing.F) {
	for _, seed := range []string{"create issue", "über_Camel99Case", "\xff\u0301\u0301", "webhok", strings.Repeat("a", 100), "don't 'quote' x'"} {
		f.Add(seed, "Name of "+seed, "connector", 5)
	}
	f.Fuzz(func(t *testing.T, words, text, name string, limit int) {
		tools := append(slices.Clone(sample), toolsearch.Tool{
			Name: name, Title: words, Description: text, Connector: name, Tags: []string{text}, Params: toolsearch.ReadParams([]byte(text)),
		})
		x := toolsearch.New(tools)
		learned := learnWords(learnWords(nil, text, name), words, "create_issue")
		hits := x.Search(words, limit, learned)
		if len(hits) > max(0, limit) || len(hits) > 100 {
			t.Fatalf("%d hits with limit %d", len(hits), limit)
		}
		for i, hit := range hits {
			if hit.Score <= 0 || math.IsNaN(hit.Score) || math.IsInf(hit.Score, 0) || i > 0 && hit.Score > hits[i-1].Score || len(hit.Reasons) > 6 {
				t.Fatalf("hit %d: %+v", i, hit)
			}
			var sum float64
			for _, reason := range hit.Reasons {
				sum += reason.Share
			}
			if sum > 1.0001 || math.IsNaN(sum) {
				t.Fatalf("shares of hit %d: %+v", i, hit)
			}
		}
		if again := toolsearch.New(tools).Search(words, limit, learned); !reflect.DeepEqual(hits, again) {
			t.Fatalf("got %+v, then %+v", hits, again)
		}
	})
}

func TestSearchConnector_FindsItsToolsAlone(t *testing.T) {
	t.Parallel()
	tools := []toolsearch.Tool{
		{Name: "linear__create_issue", Connector: "linear"}, {Name: "github__create_issue", Connector: "github"}, {Name: "github__list_pulls", Connector: "github"},
	}
	x := toolsearch.New(tools)
	for connector, want := range map[string][]string{"github": {"github__create_issue"}, "linear": {"linear__create_issue"}, "jira": nil, "": nil} {
		if found := namesOf(tools, x.SearchConnector(connector, "create an issue", 10, nil)); !slices.Equal(found, want) {
			t.Errorf("%q: found %v", connector, found)
		}
	}
}
