package db

import (
	"net"
	"syscall"
	"time"

	"patchbay/internal/safe"
)

// silence is how long a database that says nothing at all, not even that bytes have arrived, counts as there: a machine that loses its
// network or its power closes no connection. The system's own bound would be a quarter of an hour.
const silence = 10 * time.Second

func dialer() *net.Dialer {
	return &net.Dialer{
		Timeout:         connectTimeout,
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: silence / 2, Interval: silence / 4, Count: 2},
		Control: func(network, address string, c syscall.RawConn) (err error) {
			defer safe.RecoverTo(safe.Database, &err) // package net calls it in goroutines of its own
			return boundSilence(network, address, c)
		},
	}
}
