package listchanges

// Die ends the keeper as a crash does: nothing is recorded.
func (k *Keeper) Die() {
	k.mu.Lock()
	k.stopped = true
	k.mu.Unlock()
	k.cancel()
	k.background.Wait()
}
