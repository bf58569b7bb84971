package manifest

import (
	"slices"
	"strings"
	"time"

	"patchbay/client"
)

// canonicalEnds returns ends as the server stores them: in UTC, to the second, by tool. nil stays nil.
func canonicalEnds(e *client.GrantEnds) *client.GrantEnds {
	if e == nil {
		return nil
	}
	ends := &client.GrantEnds{Until: canonicalEnd(e.Until)}
	for _, t := range e.Tools {
		ends.Tools = append(ends.Tools, client.ToolEnd{Tool: t.Tool, Until: canonicalEnd(t.Until)})
	}
	slices.SortFunc(ends.Tools, func(a, b client.ToolEnd) int { return strings.Compare(a.Tool, b.Tool) })
	return ends
}

func canonicalEnd(end *time.Time) *time.Time {
	if end == nil {
		return nil
	}
	return new(end.UTC().Truncate(time.Second))
}

// endsOrNone returns the ends in a file. A file without any removes those of the existing grant, which the plan shows.
func endsOrNone(wanted *client.GrantEnds, live client.GrantEnds) *client.GrantEnds {
	if wanted == nil && (live.Until != nil || len(live.Tools) > 0) {
		return &client.GrantEnds{}
	}
	return wanted
}
