package mcp

// InUse reports whether a response holds memory.
func (r *MemoryLimit) InUse() bool {
	return r.bytes.InUse() > 0
}
