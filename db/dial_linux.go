package db

import "syscall"

// tcpUserTimeout is TCP_USER_TIMEOUT of linux/tcp.h: how long what was sent may stay unacknowledged.
const tcpUserTimeout = 0x12

func boundSilence(network, _ string, c syscall.RawConn) error {
	if network == "unix" {
		return nil
	}
	return c.Control(func(fd uintptr) {
		_ = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, tcpUserTimeout, int(silence.Milliseconds())) // where it is refused, keep-alives stay
	})
}
