package agentview

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"patchbay/internal/connectors"
)

// resultReader is the name of Patchbay's own tool that reads what was left out of an answer. Exposed names have a prefix, so it is
// free at the address of all connectors.
const resultReader = "read_result"

// ResultReader is the name of the tool that reads shortened answers. It is listed while answers are shortened, and can be called
// after that as well: the answers of before are kept for a time.
func (v *View) ResultReader() string { return resultReader }

// Shapes reports whether answers of a tool are shortened.
func (v *View) Shapes() bool { return slices.ContainsFunc(v.Connectors, (*ConnectorView).Shapes) }

// Shapes reports whether answers of a tool of the connector are shortened.
func (connector *ConnectorView) Shapes() bool { return connector.shapes }

// ResultReader is [View.ResultReader] at the connector's own address, where the server may have tools of that name. Empty: it has
// tools of all names.
func (connector *ConnectorView) ResultReader() string {
	for _, prefix := range []string{"", "patchbay_", "patchbay_patchbay_"} {
		if connector.ConnectorName(prefix+resultReader) == nil {
			return prefix + resultReader
		}
	}
	return ""
}

// resultReaderDefinition is the tool without its name.
const resultReaderDefinition = `,"title":"Read the rest of an answer","description":"Reads what was left out of a shortened answer. ` +
	`The answer says its id. Use one of jq, grep and line, or offset to read on; without any it reads from the beginning. ` +
	`An answer can be read for 24 hours.","inputSchema":{"type":"object","properties":{` +
	`"id":{"type":"string","description":"The id that the shortened answer says."},` +
	`"jq":{"type":"string","description":"A jq filter for an answer in JSON, such as .items[40:80] | map({id, title})."},` +
	`"grep":{"type":"string","description":"An RE2 regular expression of at most 200 bytes. Matching lines are returned with their numbers."},` +
	`"context":{"type":"integer","minimum":0,"maximum":50,"description":"Lines before and after a match."},` +
	`"line":{"type":"integer","minimum":1,"description":"The first line to read."},` +
	`"offset":{"type":"integer","minimum":0,"description":"The first byte to read, of the answer or of what jq or grep return."},` +
	`"limit":{"type":"integer","minimum":4,"maximum":65536,"description":"Bytes to read. Default: 16384."},` +
	`"part":{"type":"string","description":"0, 1, … for a content block, structured for the structured content, result for all of it. Default: the longest."}` +
	`},"required":["id"],"additionalProperties":false},` +
	`"annotations":{"readOnlyHint":true,"destructiveHint":false,"idempotentHint":true,"openWorldHint":false}}`

func appendResultReader(entries []listEntry, shapes bool, name string) []listEntry {
	if !shapes || name == "" {
		return entries
	}
	return append(entries, listEntry{raw: []byte(`{"name":"` + name + `"` + resultReaderDefinition)})
}

// describeShaping returns a definition that says how answers are shortened. It has no output schema, because a shortened
// answer need not match it: clients check that.
func describeShaping(raw []byte, s connectors.Shaping) []byte {
	text := "Answers are shortened: "
	switch {
	case s.Budget == 0:
		text += "they have chosen fields only."
	case s.Fields == "":
		text += fmt.Sprintf("they have about %d tokens at most.", s.Budget)
	default:
		text += fmt.Sprintf("they have chosen fields only, and about %d tokens at most.", s.Budget)
	}
	text += " A shortened answer says what is left out, and how to read it."
	out, described := []byte{'{'}, false
	forEachMember(raw, func(name string, value byteRange) {
		part := raw[value.start:value.end]
		switch name {
		case "outputSchema":
			return
		case "description":
			var own string
			_ = json.Unmarshal(part, &own) // an invalid one is replaced
			if own != "" {
				own += "\n\n"
			}
			part, described = quoteJSON(own+text), true
		}
		out = append(append(append(out, quoteJSON(name)...), ':'), part...)
		out = append(out, ',')
	})
	if !described {
		return append(append(append(out, `"description":`...), quoteJSON(text)...), '}')
	}
	return append(bytes.TrimSuffix(out, []byte(",")), '}')
}
