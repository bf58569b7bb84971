package toolcall

// Stats are gauges of this process.
type Stats struct {
	Sessions int                  // with servers, open or opening
	Circuits map[CircuitState]int // of servers with a failed last call
}

// Stats returns the current gauges.
func (c *Executor) Stats() Stats {
	return Stats{Sessions: c.pool.Sessions(), Circuits: c.breakers.countStates(c.o.Now())}
}
