//go:build !unix

package httpclient

// isSilent is false where sockets cannot be inspected: each connection is used once.
func (c *conn) isSilent() bool { return false }

// hasMore is false where sockets cannot be inspected.
func (c *conn) hasMore() bool { return false }
