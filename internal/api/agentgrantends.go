package api

import (
	"maps"
	"slices"
	"time"

	"patchbay/internal/connectors"
)

// grantEndsJSON is when parts of a grant end.
type grantEndsJSON struct {
	Until *time.Time    `json:"until,omitempty" nullable:"true" doc:"When the grant ends, to the second: its tools, prompts and resources. Null or absent: never."`
	Tools []toolEndJSON `json:"tools,omitempty" nullable:"false" maxItems:"5000" doc:"Tools that are granted in addition, each with its own end."`
}

// toolEndJSON is a tool with its own end.
type toolEndJSON struct {
	Tool  string     `json:"tool" doc:"The server's name of the tool."`
	Until *time.Time `json:"until" doc:"Null: never."`
}

func viewGrantEnds(e *connectors.GrantEnds) (out grantEndsJSON) {
	if e == nil {
		return out
	}
	out.Until = toUTC(e.Until)
	for _, tool := range slices.Sorted(maps.Keys(e.Tools)) {
		out.Tools = append(out.Tools, toolEndJSON{tool, toUTC(e.Tools[tool])})
	}
	return out
}

// toEnds returns nil for nil: the grant's end stays, and those of single tools go.
func (e *grantEndsJSON) toEnds() *connectors.GrantEnds {
	if e == nil {
		return nil
	}
	ends := &connectors.GrantEnds{Until: e.Until, Tools: make(map[string]*time.Time, len(e.Tools))}
	for _, t := range e.Tools {
		ends.Tools[t.Tool] = t.Until
	}
	return ends
}
