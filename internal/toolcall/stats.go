package toolcall

// Stats are gauges of this process.
type Stats struct {
	Sessions int                  // with servers, open or opening
	Circuits map[CircuitState]int // of servers with a failed last call
}

// Stats returns the current gauges.
func (c *Executor) Stats() Stats {
	return Stats{Sessions: c.sender.pool.Sessions(), Circuits: c.sender.breakers.countStates(c.o.Now())}
}
