//go:build unix && (!linux || !(amd64 || arm64) || race)

package socket

import "syscall"

// Peek looks at what came on a socket, without waiting: EAGAIN where there is nothing.
func Peek(fd uintptr) error {
	var one [1]byte
	_, _, err := syscall.Recvfrom(int(fd), one[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
	return err
}
