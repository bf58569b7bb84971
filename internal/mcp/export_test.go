package mcp

// Taken tells whether some answer has room.
func (r *Room) Taken() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.used > 0
}
