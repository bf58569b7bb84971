//go:build !unix

package httpclient

// isIdle is false where sockets cannot be inspected: each connection is used once.
func (c *conn) isIdle() bool { return false }

// hasMore is false where sockets cannot be inspected.
func (c *conn) hasMore() bool { return false }
