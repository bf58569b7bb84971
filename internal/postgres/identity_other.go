//go:build !linux

package postgres

// namespaceIdentity is for Linux only.
func namespaceIdentity() []osIdentity { return nil }
