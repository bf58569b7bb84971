package listchanges

// Die ends the keeper as a crash does: nothing is recorded.
func (m *Manager) Die() {
	m.mu.Lock()
	m.stopped = true
	m.mu.Unlock()
	m.cancel()
	m.background.Wait()
}
