//go:build unix

package h1

import (
	"errors"
	"syscall"
)

// lives tells whether an idle connection is open, and silent: what comes unasked is no response.
func (c *conn) lives() bool {
	_, err := c.look()
	return errors.Is(err, syscall.EAGAIN)
}

// hasMore tells whether the connection has something to read, or has ended.
func (c *conn) hasMore() bool {
	if c.raw == nil {
		return false
	}
	_, err := c.look()
	return !errors.Is(err, syscall.EAGAIN)
}

// look peeks at what came, without waiting.
func (c *conn) look() (n int, err error) {
	failed := c.raw.Read(func(fd uintptr) bool {
		var one [1]byte
		n, _, err = syscall.Recvfrom(int(fd), one[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		return true
	})
	if failed != nil {
		return 0, failed
	}
	return n, err
}
