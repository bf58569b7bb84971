package main

import (
	"os"
	"runtime/debug"
)

// garbagePercent is how much the heap may grow between two collections, in percent of what lives. Little lives in this program and
// much is made and dropped with each call: with Go's usual 100 a fifth of a call's CPU went into collecting.
const garbagePercent = 400

// collectSeldom lets the heap grow, unless the operator says how much by GOGC. GOMEMLIMIT works as always.
func collectSeldom() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(garbagePercent)
	}
}
