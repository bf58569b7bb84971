//go:build unix

package httpclient

import (
	"errors"
	"syscall"

	"patchbay/internal/fasthttp/tcp"
)

// isIdle reports whether an idle connection is open and has no unsolicited data.
func (c *conn) isIdle() bool {
	return errors.Is(c.peekSocket(), syscall.EAGAIN)
}

// hasMore reports whether the connection has data to read, or has ended.
func (c *conn) hasMore() bool {
	return c.raw != nil && !c.isIdle()
}

// peekSocket peeks at the socket without blocking.
func (c *conn) peekSocket() error {
	if c.peekFD == nil {
		c.peekFD = func(fd uintptr) bool {
			c.peekErr = tcp.Peek(fd)
			return true
		}
	}
	if err := c.raw.Read(c.peekFD); err != nil {
		return err
	}
	return c.peekErr
}
