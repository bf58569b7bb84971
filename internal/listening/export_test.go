package listening

// Die ends the keeper as the death of its process does: nothing is written down.
func (k *Keeper) Die() {
	k.mu.Lock()
	k.stopped = true
	k.mu.Unlock()
	k.cut()
	k.crew.Wait()
}
