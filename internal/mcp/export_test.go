package mcp

// InUse reports whether a response holds memory.
func (l *MemoryLimit) InUse() bool {
	return l.bytes.InUse() > 0
}
