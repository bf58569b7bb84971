//go:build unix

package h1

import (
	"errors"
	"syscall"

	"patchbay/internal/socket"
)

// lives tells whether an idle connection is open, and silent: what comes unasked is no response.
func (c *conn) lives() bool {
	return errors.Is(c.look(), syscall.EAGAIN)
}

// hasMore tells whether the connection has something to read, or has ended.
func (c *conn) hasMore() bool {
	return c.raw != nil && !c.lives()
}

// look peeks at what came, without waiting.
func (c *conn) look() error {
	if c.peek == nil {
		c.peek = func(fd uintptr) bool {
			c.peeked = socket.Peek(fd)
			return true
		}
	}
	if err := c.raw.Read(c.peek); err != nil {
		return err
	}
	return c.peeked
}
