package access

// cutEndless leaves out what leads back to itself for the same value: no argument would ever be judged by it.
func (c *compiler) cutEndless() {
	const open, done = 1, 2
	state := map[*plan]int{}
	var walk func(p *plan)
	walk = func(p *plan) {
		state[p] = open
		p.inPlace(func(to **plan) {
			switch sub := *to; {
			case sub == nil || state[sub] == done:
			case state[sub] == open:
				c.leave(c.places[p], UncheckedEndless)
				*to = unjudged
			default:
				walk(sub)
			}
		})
		state[p] = done
	}
	for _, p := range c.order {
		if state[p] == 0 {
			walk(p)
		}
	}
}

// Bounds above which arguments of an ordinary size may be too much work.
const (
	manyPaths      = 500 // plans that apply to one value
	longPattern    = 200 // instructions
	manyPathsBound = 1 << 20
)

// weigh names what may be too much work for large or deeply nested arguments.
func (c *compiler) weigh() {
	g := &graph{paths: map[*plan]int{}, split: map[*plan]int{}, number: map[*plan]int{}, low: map[*plan]int{}, open: map[*plan]bool{}, component: map[*plan]int{}}
	for _, p := range c.order {
		if g.number[p] == 0 {
			g.connect(p)
		}
	}
	for _, p := range c.order {
		if p.pattern != nil && p.pattern.steps > longPattern || g.count(p) > manyPaths || g.branches(p) > 1 {
			c.leave(c.places[p], UncheckedCombination)
			return
		}
	}
}

// graph is how plans lead to each other.
type graph struct {
	paths     map[*plan]int // see count
	split     map[*plan]int // see branches
	number    map[*plan]int // in the order in which they were met
	low       map[*plan]int
	open      map[*plan]bool
	stack     []*plan
	component map[*plan]int // of plans that lead back to themselves: their strongly connected component
}

// count is how many plans apply to the same value as p, each as often as it does.
func (g *graph) count(p *plan) int {
	if n, known := g.paths[p]; known {
		return n
	}
	n := 1
	p.inPlace(func(sub **plan) {
		if *sub != nil {
			n = min(n+g.count(*sub), manyPathsBound)
		}
	})
	g.paths[p] = n
	return n
}

// branches is on how many ways the plans that apply to a value lead on to p again, further down. With more than one, the work grows with a
// power of the depth.
func (g *graph) branches(p *plan) int {
	own := g.component[p]
	if own == 0 {
		return 0
	}
	if n, known := g.split[p]; known {
		return n
	}
	n := 0
	p.eachPart(func(sub *plan) {
		if g.component[sub] == own {
			n = 1
		}
	})
	p.inPlace(func(sub **plan) {
		if *sub != nil && g.component[*sub] == own {
			n = min(n+g.branches(*sub), manyPathsBound)
		}
	})
	g.split[p] = n
	return n
}

// connect finds strongly connected components (Tarjan).
func (g *graph) connect(p *plan) {
	g.number[p] = len(g.number) + 1
	g.low[p] = g.number[p]
	g.stack, g.open[p] = append(g.stack, p), true
	itself := false
	follow := func(sub *plan) {
		switch {
		case g.number[sub] == 0:
			g.connect(sub)
			g.low[p] = min(g.low[p], g.low[sub])
		case g.open[sub]:
			g.low[p] = min(g.low[p], g.number[sub])
			itself = itself || sub == p
		}
	}
	p.eachPart(follow)
	p.inPlace(func(sub **plan) {
		if *sub != nil {
			follow(*sub)
		}
	})
	if g.low[p] < g.number[p] {
		return
	}
	for alone := !itself && g.stack[len(g.stack)-1] == p; ; {
		last := g.stack[len(g.stack)-1]
		g.stack, g.open[last] = g.stack[:len(g.stack)-1], false
		if !alone {
			g.component[last] = g.number[p]
		}
		if last == p {
			return
		}
	}
}
