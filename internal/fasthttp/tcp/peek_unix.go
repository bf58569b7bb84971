//go:build unix && (!linux || !(amd64 || arm64) || race)

package tcp

import (
	"errors"
	"syscall"
)

// Peek peeks at a socket without waiting. It returns EAGAIN if there is no data.
func Peek(fd uintptr) error {
	var one [1]byte
	_, _, err := syscall.Recvfrom(int(fd), one[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
	return err
}

// IsPeerClosed reports whether the peer has closed its side, or the connection is broken, and no data is left to read.
func IsPeerClosed(fd uintptr) bool {
	var one [1]byte
	n, _, err := syscall.Recvfrom(int(fd), one[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
	return err == nil && n == 0 || err != nil && !errors.Is(err, syscall.EAGAIN) && !errors.Is(err, syscall.EINTR)
}
