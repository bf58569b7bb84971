package toolcall

// Stats are what goes on in this process at one moment.
type Stats struct {
	Sessions int                  // with connectors' servers, open or being opened
	Circuits map[CircuitState]int // of servers that failed last time, and of no others
}

// Stats counts what goes on now.
func (c *Caller) Stats() Stats {
	return Stats{Sessions: c.pool.Sessions(), Circuits: c.breakers.states(c.o.Now())}
}
