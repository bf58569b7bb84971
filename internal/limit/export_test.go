package limit

// Len is how many buckets there are.
func (r *Rate[K]) Len() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.buckets)
}
