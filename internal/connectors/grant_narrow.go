package connectors

import "slices"

// Without returns the grant without the dropped tools. A grant of all tools becomes one of the current tools
// there, without future ones.
func (g Grant) Without(current, dropped []string) Grant {
	left := func(names []string) []string {
		return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return slices.Contains(dropped, name) })
	}
	if g.AllTools {
		g.AllTools, g.Tools = false, current
	}
	g.Tools, g.TrustedTools = left(g.Tools), left(g.TrustedTools)
	g.Ends = g.Ends.withoutTools(dropped)
	return g.Normalized()
}
