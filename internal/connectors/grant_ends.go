package connectors

import (
	"maps"
	"slices"
	"time"
)

// GrantEnds are the times after which parts of a grant permit nothing. They have whole seconds.
type GrantEnds struct {
	Until *time.Time // of AllTools, Tools, Prompts and Resources; nil: no end
	// Tools are granted in addition, by name, each with an end of its own; nil: no end. A tool that the grant includes twice
	// ends at the later end.
	Tools map[string]*time.Time
}

// Until returns the end of the grant but for tools with ends of their own; nil: never.
func (g Grant) Until() *time.Time { return g.Ends.generalEnd() }

// ToolEnds returns the tools with ends of their own; a nil end is never.
func (g Grant) ToolEnds() map[string]*time.Time { return g.Ends.toolEnds() }

func (e *GrantEnds) generalEnd() *time.Time {
	if e == nil {
		return nil
	}
	return e.Until
}

func (e *GrantEnds) toolEnds() map[string]*time.Time {
	if e == nil {
		return nil
	}
	return e.Tools
}

func (e *GrantEnds) withoutTools(dropped []string) *GrantEnds {
	if e == nil {
		return nil
	}
	left := maps.Clone(e.Tools)
	maps.DeleteFunc(left, func(tool string, _ *time.Time) bool { return slices.Contains(dropped, tool) })
	return &GrantEnds{Until: e.Until, Tools: left}
}

// names reports whether the grant includes the tool now, or did before an end.
func (g Grant) namesTool(tool string) bool {
	_, hasEnd := g.Ends.toolEnds()[tool]
	return g.Includes(tool) || hasEnd
}

// withNormalizedEnds truncates the ends to seconds, and removes ends of tools that are granted as long without them.
func (g Grant) withNormalizedEnds() Grant {
	if g.Ends == nil {
		return g
	}
	ends := &GrantEnds{Until: truncateEnd(g.Ends.Until)}
	for tool, end := range g.Ends.Tools {
		switch end = truncateEnd(end); {
		case g.Includes(tool) && !isLater(end, ends.Until):
		case end == nil && ends.Until == nil:
			g.Tools = append(slices.Clone(g.Tools), tool)
		default:
			if ends.Tools == nil {
				ends.Tools = map[string]*time.Time{}
			}
			ends.Tools[tool] = end
		}
	}
	g.Tools = sortedSet(g.Tools)
	if g.Ends = ends; ends.Until == nil && ends.Tools == nil {
		g.Ends = nil
	}
	return g
}

func (c *validation) checkEnds(e *GrantEnds) {
	if !isValidEnd(e.generalEnd()) {
		c.addField("until", "Must be a date and time before the year 10000.")
	}
	c.checkToolNames("tool_ends", slices.Collect(maps.Keys(e.toolEnds())))
	for _, end := range e.toolEnds() {
		if !isValidEnd(end) {
			c.addField("tool_ends", "Must be dates and times before the year 10000.")
			return
		}
	}
}

// At returns the grant as it is at a time: with the tools that have not ended, and without the prompts and resources of a
// grant that has. Ends stay.
func (g Grant) At(now time.Time) Grant {
	if g.Ends == nil {
		return g
	}
	if hasEnded(g.Ends.Until, now) {
		g.AllTools, g.Tools, g.Prompts, g.Resources = false, nil, PromptsNone, ResourcesNone
	}
	if g.AllTools {
		return g
	}
	g.Tools = slices.Clone(g.Tools)
	for tool, end := range g.Ends.Tools {
		if !hasEnded(end, now) {
			g.Tools = append(g.Tools, tool)
		}
	}
	g.Tools = sortedSet(g.Tools)
	return g
}

// HasEnded reports whether the grant permits nothing at a time, because all of it has ended.
func (g Grant) HasEnded(now time.Time) bool {
	if !hasEnded(g.Ends.generalEnd(), now) {
		return false
	}
	for _, end := range g.Ends.toolEnds() {
		if !hasEnded(end, now) {
			return false
		}
	}
	return true
}

// LastEnd returns when all of the grant ends or ended; nil: a part has no end.
func (g Grant) LastEnd() *time.Time {
	last := g.Until()
	for _, end := range g.ToolEnds() {
		if isLater(end, last) {
			last = end
		}
	}
	return last
}

// ToolEnd returns when the grant of a tool ends or ended; nil: never. isGranted is false for a tool that it never included.
func (g Grant) ToolEnd(tool string) (end *time.Time, isGranted bool) {
	own, hasOwn := g.Ends.toolEnds()[tool]
	switch includes := g.Includes(tool); {
	case includes && (!hasOwn || !isLater(own, g.Ends.generalEnd())):
		return g.Ends.generalEnd(), true
	case hasOwn:
		return own, true
	}
	return nil, false
}

// NextEnd returns the first end after a time; zero: none follows.
func (g Grant) NextEnd(now time.Time) (next time.Time) {
	consider := func(end *time.Time) {
		if end != nil && end.After(now) && (next.IsZero() || end.Before(next)) {
			next = *end
		}
	}
	consider(g.Ends.generalEnd())
	for _, end := range g.Ends.toolEnds() {
		consider(end)
	}
	return next
}

// Widened returns the grant with more tools up to an end; until nil: without one. all grants all tools, of which those in
// current exist. What g grants keeps its own end: parts with another end get an end of their own, and then all tools are the
// current ones. A grant that has ended is replaced, but for its approvals, and its prompts and resources stay away unless all
// tools are granted.
func (g Grant) Widened(all bool, tools, current []string, until *time.Time, now time.Time) Grant {
	if until = truncateEnd(until); g.CreatedAt.IsZero() || g.HasEnded(now) {
		g.AllTools, g.Tools, g.Prompts, g.Resources = all, tools, "", ""
		g.Ends = &GrantEnds{Until: until}
		return g.Normalized()
	}
	if sameEnd(g.Ends.generalEnd(), until) {
		if all {
			g.AllTools = true
		}
		g.Tools = append(slices.Clone(g.Tools), tools...)
		return g.Normalized()
	}
	if all {
		tools = current
	}
	ends := &GrantEnds{Until: g.Ends.generalEnd(), Tools: maps.Clone(g.Ends.toolEnds())}
	if ends.Tools == nil {
		ends.Tools = map[string]*time.Time{}
	}
	for _, tool := range tools {
		if end, granted := g.ToolEnd(tool); !granted || isLater(until, end) {
			ends.Tools[tool] = until
		}
	}
	g.Ends = ends
	return g.Normalized()
}

// maxEnd bounds ends, so that each has a form in JSON.
var maxEnd = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)

func isValidEnd(end *time.Time) bool {
	return end == nil || end.Before(maxEnd) && end.Year() > 0
}

func truncateEnd(end *time.Time) *time.Time {
	if end == nil {
		return nil
	}
	return new(end.UTC().Truncate(time.Second))
}

func sameEnd(a, b *time.Time) bool {
	return a == nil && b == nil || a != nil && b != nil && a.Equal(*b)
}

// isLater reports whether a is a later end than b. No end is the latest.
func isLater(a, b *time.Time) bool { return b != nil && (a == nil || a.After(*b)) }

func hasEnded(end *time.Time, now time.Time) bool { return end != nil && !end.After(now) }
