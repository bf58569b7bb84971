package client

import "slices"

// Paths returns the sorted API paths of a method such as GET: /api/v1/connectors/{id}.
func Paths(method string) []string { return slices.Clone(paths[method]) }
