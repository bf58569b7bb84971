package mcptest

import "fmt"

// Tool returns a small valid tool as JSON.
func Tool(name string) string {
	return fmt.Sprintf(`{"name":%q,"description":"Does %s.","inputSchema":{"type":"object"}}`, name, name)
}

// Tools returns n tools of realistic size (about 1 KB each): tool_000, tool_001, …
func Tools(n int) []string {
	tools := make([]string, n)
	for i := range tools {
		tools[i] = fmt.Sprintf(`{"name":"tool_%03d","title":"Tool %d","description":"Searches the records of area %d and returns `+
			`those that match the query, newest first. Use it before creating a record, so that none is made twice.",`+
			`"inputSchema":{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{`+
			`"query":{"type":"string","description":"Words that must occur, \"quoted\" for a phrase.","minLength":1},`+
			`"state":{"type":"string","enum":["open","closed","all"],"default":"open"},`+
			`"limit":{"type":"integer","minimum":1,"maximum":100,"default":25},`+
			`"after":{"type":"integer","description":"Id to start from.","maximum":9223372036854775807},`+
			`"filter":{"type":"object","properties":{"labels":{"type":"array","items":{"type":"string"}},`+
			`"assignee":{"type":["string","null"]}},"additionalProperties":false}},`+
			`"required":["query"],"additionalProperties":false},`+
			`"outputSchema":{"type":"object","properties":{"items":{"type":"array","items":{"type":"object"}}}},`+
			`"annotations":{"readOnlyHint":true,"openWorldHint":false},"_meta":{"example.com/area":%d}}`, i, i, i, i)
	}
	return tools
}
