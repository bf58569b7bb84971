package safehttp

// BlockedError says that the policy forbids a connection.
type BlockedError struct {
	Host string // host or address as it was asked for
	Why  string // a sentence, safe to show
}

// Error is the sentence.
func (e *BlockedError) Error() string { return e.Why }
