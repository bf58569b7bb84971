//go:build unix && (!linux || !(amd64 || arm64) || race)

package socket

import (
	"errors"
	"syscall"
)

// Peek looks at what came on a socket, without waiting: EAGAIN where there is nothing.
func Peek(fd uintptr) error {
	var one [1]byte
	_, _, err := syscall.Recvfrom(int(fd), one[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
	return err
}

// Ended tells whether the other end has ended its side, or the connection is broken, and nothing is left to be read.
func Ended(fd uintptr) bool {
	var one [1]byte
	n, _, err := syscall.Recvfrom(int(fd), one[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
	return err == nil && n == 0 || err != nil && !errors.Is(err, syscall.EAGAIN) && !errors.Is(err, syscall.EINTR)
}
