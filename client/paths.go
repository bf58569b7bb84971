package client

import "slices"

// Paths are what the API has of a method, as GET, in order: as /api/v1/connectors/{id}.
func Paths(method string) []string { return slices.Clone(paths[method]) }
