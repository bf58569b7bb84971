package main

import (
	"os"
	"runtime"
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

// profiledBytes is how much is allocated between two stacks that a heap profile keeps. At Go's usual 512 KiB walking them took 1.6 % of a
// busy process.
const profiledBytes = 8 << 20

// profileSeldom has heap profiles keep fewer stacks, before anything is allocated that one would be about.
func profileSeldom() { runtime.MemProfileRate = profiledBytes }
