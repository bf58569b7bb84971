package upstream

// Sweep runs the sweep.
func (p *Pool) Sweep() { p.sweepIdle() }
