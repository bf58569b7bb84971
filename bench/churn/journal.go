package churn

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"
)

// connectorState is the immutable state after an action.
type connectorState struct {
	exists, enabled bool
	slug            string
	tools           map[string]tool     // as synced
	items           []map[string]string // versions of prompts, resources and templates by name; several: each is possible
	grants          map[int]toolGrant   // by agent number
}

// toolGrant is an agent's grant. The zero value is of everything.
type toolGrant struct {
	tools         map[string]bool // nil: all
	leavesOutRest bool            // prompts, resources and templates
}

// tool is a stored tool. Agents see the accepted version.
type tool struct {
	accepted string // empty: none
	current  string // as last synced
}

func (s connectorState) clone() connectorState {
	s.tools, s.grants = maps.Clone(s.tools), maps.Clone(s.grants)
	return s
}

// grantTools returns the grants after a grant of tools; nil: all. It begins without prompts and resources if it is of named
// tools; one that is there keeps its choice.
func (s connectorState) grantTools(agent int, tools map[string]bool) map[int]toolGrant {
	grants := maps.Clone(s.grants)
	before, isThere := grants[agent]
	grants[agent] = toolGrant{tools: tools, leavesOutRest: before.leavesOutRest || !isThere && tools != nil}
	return grants
}

// isServed reports whether the agent has access to the connector.
func (s connectorState) isServed(agent int) bool {
	_, isGranted := s.grants[agent]
	return s.exists && s.enabled && isGranted
}

// possibleLists are the possible contents of an agent's list, at least one: versions by name.
func (s connectorState) possibleLists(k listKind, agent int) []map[string]string {
	switch {
	case !s.isServed(agent):
		return []map[string]string{nil}
	case k == toolList:
		return []map[string]string{s.listedTools(agent)}
	case s.grants[agent].leavesOutRest:
		return []map[string]string{nil}
	}
	return s.possibleItems()
}

// possibleItems are the possible versions of prompts, resources and templates, at least one.
func (s connectorState) possibleItems() []map[string]string {
	if len(s.items) == 0 {
		return []map[string]string{nil} // the first sync has not ended
	}
	return s.items
}

// isUsed reports whether the connector has tools and grants.
func (s connectorState) isUsed() bool { return s.exists && len(s.tools) > 0 && len(s.grants) > 0 }

// pendingTool is the tool with a change that waits for an admin; empty: none.
func (s connectorState) pendingTool() string {
	for name, t := range s.tools {
		if t.accepted != t.current {
			return name
		}
	}
	return ""
}

// listedTools are the versions of the tools that an agent sees, by name.
func (s connectorState) listedTools(agent int) map[string]string {
	if !s.isServed(agent) {
		return nil
	}
	listed, granted := map[string]string{}, s.grants[agent].tools
	for name, t := range s.tools {
		if t.accepted != "" && (granted == nil || granted[name]) {
			listed[name] = t.accepted
		}
	}
	return listed
}

func exposedName(slug, tool string) string { return "mcp_" + slug + "__" + tool }

// slot holds one connector at a time. Slugs begin with the slot's name.
type slot struct {
	name   string // prefix of slugs
	server *server

	created int // number of slugs so far; used by its admin only

	mu      sync.Mutex // guards the fields below
	journal []entry
	unknown bool // an action's outcome is unknown: the slot is not judged any more
}

// entry is a state and when it was possible.
type entry struct {
	connectorState
	began time.Time // start of its action
	ended time.Time // end of the next action; zero: none
}

func newSlot(n int) *slot {
	name := fmt.Sprintf("s%d-", n)
	return &slot{name: name, server: newServer(name, n%2 == 1), journal: []entry{{connectorState: connectorState{grants: map[int]toolGrant{}}}}}
}

// currentState is the latest state.
func (s *slot) currentState() connectorState {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.journal[len(s.journal)-1].connectorState
}

// isChoosable reports whether the slot has a connector and is judged.
func (s *slot) isChoosable() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.unknown && s.journal[len(s.journal)-1].exists
}

// beginAction records the start of an action that leads to next.
func (s *slot) beginAction(next connectorState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.journal = append(s.journal, entry{connectorState: next, began: time.Now()})
}

// correctAction replaces the state that the current action leads to.
func (s *slot) correctAction(next connectorState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.journal[len(s.journal)-1].connectorState = next
}

// journalTTL keeps old states for longer than any request and delay.
const journalTTL = 2 * time.Minute

// endAction records the response to the action.
func (s *slot) endAction() {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	s.journal[len(s.journal)-2].ended = now
	old := slices.IndexFunc(s.journal, func(e entry) bool { return e.ended.IsZero() || now.Sub(e.ended) < journalTTL })
	s.journal = slices.Delete(s.journal, 0, old)
}

// markUnknown records that the action's outcome is unknown.
func (s *slot) markUnknown() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unknown = true
}

// possibleStates are the states that were possible in an interval. judged is false if the state is unknown.
func (s *slot) possibleStates(from, to time.Time) (states []connectorState, judged bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.journal {
		if !e.began.After(to) && (e.ended.IsZero() || !e.ended.Before(from)) {
			states = append(states, e.connectorState)
		}
	}
	return states, !s.unknown
}
