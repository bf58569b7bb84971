package agentview

// cutCycles removes in-place references back to the same value, which would never end.
func (c *schemaCompiler) cutCycles() {
	const open, done = 1, 2
	state := map[*plan]int{}
	var walk func(p *plan)
	walk = func(p *plan) {
		state[p] = open
		p.eachInPlace(func(to **plan) {
			switch sub := *to; {
			case sub == nil || state[sub] == done:
			case state[sub] == open:
				c.addUnchecked(c.planPaths[p], UncheckedCycle)
				*to = uncheckedPlan
			default:
				walk(sub)
			}
		})
		state[p] = done
	}
	for _, p := range c.planOrder {
		if state[p] == 0 {
			walk(p)
		}
	}
}

// Bounds above which ordinary arguments may be too expensive.
const (
	maxCheapPaths      = 500 // plans that apply to one value
	costlyInstructions = 200 // instructions
	maxCountedPaths    = 1 << 20
)

// reportExpensive reports a schema that may be too expensive for large or deeply nested arguments.
func (c *schemaCompiler) reportExpensive() {
	g := &planGraph{pathCounts: map[*plan]int{}, branchCounts: map[*plan]int{}, index: map[*plan]int{}, lowLink: map[*plan]int{}, onStack: map[*plan]bool{}, component: map[*plan]int{}}
	for _, p := range c.planOrder {
		if g.index[p] == 0 {
			g.findComponents(p)
		}
	}
	for _, p := range c.planOrder {
		if p.pattern != nil && p.pattern.instructions > costlyInstructions || g.countPaths(p) > maxCheapPaths || g.countBranches(p) > 1 {
			c.addUnchecked(c.planPaths[p], UncheckedCombination)
			return
		}
	}
}

// planGraph is the graph of references among plans.
type planGraph struct {
	pathCounts   map[*plan]int // see countPaths
	branchCounts map[*plan]int // see countBranches
	index        map[*plan]int // in order of discovery
	lowLink      map[*plan]int
	onStack      map[*plan]bool
	stack        []*plan
	component    map[*plan]int // of recursive plans: their strongly connected component
}

// countPaths returns how many plan applications a value needs, in place.
func (g *planGraph) countPaths(p *plan) int {
	if n, known := g.pathCounts[p]; known {
		return n
	}
	n := 1
	p.eachInPlace(func(sub **plan) {
		if *sub != nil {
			n = min(n+g.countPaths(*sub), maxCountedPaths)
		}
	})
	g.pathCounts[p] = n
	return n
}

// countBranches returns how many children lead back to p. With more than one, the work is exponential in the
// depth.
func (g *planGraph) countBranches(p *plan) int {
	own := g.component[p]
	if own == 0 {
		return 0
	}
	if n, known := g.branchCounts[p]; known {
		return n
	}
	n := 0
	p.eachChild(func(sub *plan) {
		if g.component[sub] == own {
			n = 1
		}
	})
	p.eachInPlace(func(sub **plan) {
		if *sub != nil && g.component[*sub] == own {
			n = min(n+g.countBranches(*sub), maxCountedPaths)
		}
	})
	g.branchCounts[p] = n
	return n
}

// findComponents finds strongly connected components with Tarjan's algorithm.
func (g *planGraph) findComponents(p *plan) {
	g.index[p] = len(g.index) + 1
	g.lowLink[p] = g.index[p]
	g.stack, g.onStack[p] = append(g.stack, p), true
	itself := false
	follow := func(sub *plan) {
		switch {
		case g.index[sub] == 0:
			g.findComponents(sub)
			g.lowLink[p] = min(g.lowLink[p], g.lowLink[sub])
		case g.onStack[sub]:
			g.lowLink[p] = min(g.lowLink[p], g.index[sub])
			itself = itself || sub == p
		}
	}
	p.eachChild(follow)
	p.eachInPlace(func(sub **plan) {
		if *sub != nil {
			follow(*sub)
		}
	})
	if g.lowLink[p] < g.index[p] {
		return
	}
	for alone := !itself && g.stack[len(g.stack)-1] == p; ; {
		last := g.stack[len(g.stack)-1]
		g.stack, g.onStack[last] = g.stack[:len(g.stack)-1], false
		if !alone {
			g.component[last] = g.index[p]
		}
		if last == p {
			return
		}
	}
}
