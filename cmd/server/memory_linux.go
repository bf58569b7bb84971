package main

import "golang.org/x/sys/unix"

// protectMemory makes the process non-dumpable, so that other processes of the same user cannot read its memory
// and environment with the keys: connectors' programs run as that user. It also disables core dumps, and
// debuggers need root. Root is not kept out. An error is ignored, because nothing could be done about it.
func protectMemory() { _ = unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0) }
