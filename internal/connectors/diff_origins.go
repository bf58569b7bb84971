package connectors

import (
	"slices"

	"patchbay/internal/toolchange"
)

// findForeign returns what reports whether no person has accepted that requests go to a server; nil: no server is foreign.
func (c Comparison) findForeign() func(server string) bool {
	if len(c.Origins) == 0 {
		return nil
	}
	var known map[string]bool // of accepted tools; nil: not read yet
	return func(server string) bool {
		origin := Origin(server)
		if c.hasOrigin(origin) {
			return false
		}
		if known == nil {
			known = c.acceptedOrigins()
		}
		return origin == "" || !known[origin]
	}
}

func (c Comparison) hasOrigin(origin string) bool {
	return origin != "" && slices.Contains(c.Origins, origin)
}

func (c Comparison) isForeign(def Definition) bool {
	return c.budget.IsForeign != nil && c.budget.IsForeign(toolchange.RequestServer(def.Raw))
}

// acceptedOrigins returns the origins of the accepted tools, as far as their definitions are known.
func (c Comparison) acceptedOrigins() map[string]bool {
	listed := c.definitionsByHash()
	origins := map[string]bool{}
	for _, s := range c.Old {
		if s.Removed || s.Accepted == nil {
			continue
		}
		raw := listed[*s.Accepted]
		if raw == nil {
			raw = c.Accepted[*s.Accepted]
		}
		origins[Origin(toolchange.RequestServer(raw))] = true
	}
	return origins
}

func (c Comparison) definitionsByHash() map[Hash][]byte {
	listed := make(map[Hash][]byte, len(c.List))
	for _, d := range c.List {
		listed[d.Hash] = d.Raw
	}
	return listed
}

// originsNeeded returns the accepted definitions that the list does not have, if a new tool has an origin that may be
// foreign.
func (c Comparison) originsNeeded(old map[string]ToolState) (needed []Hash) {
	if len(c.Origins) == 0 || !slices.ContainsFunc(c.List, func(d Definition) bool {
		s, known := old[d.Name]
		return (!known || s.Accepted == nil && s.Current != d.Hash) && !c.hasOrigin(Origin(toolchange.RequestServer(d.Raw)))
	}) {
		return nil
	}
	listed := c.definitionsByHash()
	for _, s := range c.Old {
		if !s.Removed && s.Accepted != nil && listed[*s.Accepted] == nil {
			needed = append(needed, *s.Accepted)
		}
	}
	return needed
}
