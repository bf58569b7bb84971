package devmcp

import (
	"encoding/json"
	"fmt"
	"strings"
)

type issue struct {
	Number int    `json:"number"`
	Title  string `json:"title"`
	State  string `json:"state"`
}

var issues = []issue{
	{17, "Sync fails behind a proxy", "open"},
	{12, "Dark mode: the focus ring is hard to see", "open"},
	{9, "Export the tool list as CSV", "closed"},
}

// callTool runs a tool. Most only report their arguments.
func (e *endpoint) callTool(raw json.RawMessage) (any, *rpcError) {
	var params struct {
		Name      string
		Arguments map[string]any
	}
	if json.Unmarshal(raw, &params) != nil || !e.known[params.Name] {
		return nil, &rpcError{-32602, "No such tool."}
	}
	switch params.Name {
	case "search_issues":
		return searchIssues(params.Arguments), nil
	case "get_issue":
		return getIssue(params.Arguments), nil
	case "create_issue":
		return createIssue(params.Arguments), nil
	case "list_labels":
		return newTextResult("bug, feature, question, good first issue"), nil
	}
	return newTextResult(fmt.Sprintf("%s was called with %d arguments. This server is for practice: nothing happened.",
		params.Name, len(params.Arguments))), nil
}

func searchIssues(arguments map[string]any) any {
	query, ok := arguments["query"].(string)
	if !ok || query == "" {
		return newErrorResult("query is missing.")
	}
	state, _ := arguments["state"].(string)
	if state == "" {
		state = "open"
	}
	found := []issue{}
	for _, i := range issues {
		if (state == "all" || state == i.State) && strings.Contains(strings.ToLower(i.Title), strings.ToLower(query)) {
			found = append(found, i)
		}
	}
	result := newTextResult(fmt.Sprintf("%d issues found.", len(found)))
	result["structuredContent"] = resultObject{"issues": found}
	return result
}

func getIssue(arguments map[string]any) any {
	number, _ := arguments["number"].(float64)
	for _, i := range issues {
		if float64(i.Number) == number {
			return newTextResult(fmt.Sprintf("#%d %s (%s)", i.Number, i.Title, i.State))
		}
	}
	return newErrorResult("There is no such issue.")
}

func createIssue(arguments map[string]any) any {
	title, ok := arguments["title"].(string)
	if !ok || len(title) < 3 {
		return newErrorResult("title must have at least 3 characters.")
	}
	return newTextResult(fmt.Sprintf("Created issue #18: %s", title))
}

func newTextResult(t string) resultObject {
	return resultObject{"content": []resultObject{{"type": "text", "text": t}}}
}

func newErrorResult(t string) resultObject {
	result := newTextResult(t)
	result["isError"] = true
	return result
}
