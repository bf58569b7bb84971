package serve

// WithModernMembers returns a result with the members that the modern era requires.
func WithModernMembers(method string, result []byte) []byte {
	result = withPrivateScope(method, result)
	return appendResult(nil, missingMembers(method, result), result)
}
