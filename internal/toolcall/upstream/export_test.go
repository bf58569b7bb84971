package upstream

// Sweep runs the sweep.
func (p *Pool) Sweep() { p.sweepIdle() }

// WaitReviews waits for the reviews of [Pool.RecheckConnector]; sessions must not open meanwhile.
func (p *Pool) WaitReviews() { p.background.Wait() }
