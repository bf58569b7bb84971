package upstream

// Sweep is what the timer does.
func (p *Pool) Sweep() { p.sweepIdle() }
