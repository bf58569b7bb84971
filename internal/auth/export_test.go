package auth

// Computed is how much was computed to check passwords.
func (s *Service) Computed() int64 { return s.hasher.done.Load() }
