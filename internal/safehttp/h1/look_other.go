//go:build !unix

package h1

// lives cannot be told here: each connection is used once.
func (c *conn) lives() bool { return false }

// hasMore cannot be told, either.
func (c *conn) hasMore() bool { return false }
