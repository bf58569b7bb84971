package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"syscall"
	"time"

	"patchbay/internal/fault"
)

// readHeaderTimeout bounds how long a connection may take to say what it wants.
const readHeaderTimeout = 10 * time.Second

// listen opens addr, and says in a sentence why it cannot. setting is where the address comes from.
func listen(ctx context.Context, setting, addr string) (net.Listener, error) {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", addr)
	switch {
	case err == nil:
		return listener, nil
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fault.Wrap(fault.Conflict, err, fmt.Sprintf("The address %s is in use by another program. Stop that one, or choose another address with %s.", addr, setting))
	case errors.Is(err, syscall.EACCES):
		return nil, fault.Wrap(fault.Denied, err, fmt.Sprintf("Listening on %s is not permitted to this user. Choose a port from 1024 up with %s.", addr, setting))
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return nil, fault.Wrap(fault.Invalid, err, fmt.Sprintf("The address %s is not one of this machine. Choose another with %s.", addr, setting))
	default:
		return nil, fault.Wrap(fault.Invalid, err, fmt.Sprintf("Listening on %s, from %s, does not work", addr, setting)+".")
	}
}

func join(words []string) string { return strings.Join(words, ", ") }
