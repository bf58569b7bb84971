package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"syscall"
	"time"

	"patchbay/internal/fault"
)

// readHeaderTimeout bounds the time for a request's head.
const readHeaderTimeout = 10 * time.Second

// listenOn listens on addr. Its error is a sentence that names setting, the source of the address.
func listenOn(ctx context.Context, setting, addr string) (net.Listener, error) {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", addr)
	switch {
	case err == nil:
		return listener, nil
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fault.Wrap(fault.Conflict, err, fmt.Sprintf("Another program uses the address %s. Stop it, or choose another address with %s.", addr, setting))
	case errors.Is(err, syscall.EACCES):
		return nil, fault.Wrap(fault.Denied, err, fmt.Sprintf("No permission to listen on %s. Use a port of 1024 or higher with %s.", addr, setting))
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return nil, fault.Wrap(fault.Invalid, err, fmt.Sprintf("The address %s doesn't belong to this machine. Choose another with %s.", addr, setting))
	default:
		return nil, fault.Wrap(fault.Invalid, err, fmt.Sprintf("Can't listen on %s (%s)", addr, setting)+".")
	}
}
