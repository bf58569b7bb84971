package connectors

import "slices"

// Without is the grant without some tools. A grant of all becomes one of the tools that are there now: those of later syncs are not in it
// any more.
func (g Grant) Without(there, dropped []string) Grant {
	left := func(names []string) []string {
		return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return slices.Contains(dropped, name) })
	}
	if g.AllTools {
		g.AllTools, g.Tools = false, there
	}
	g.Tools, g.TrustedTools = left(g.Tools), left(g.TrustedTools)
	return g.Normalized()
}
