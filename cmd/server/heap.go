package main

import (
	"os"
	"runtime"
	"runtime/debug"
)

// garbagePercent is GOGC: the heap's growth between two collections, in percent of the live heap. The live heap
// is small, and each call allocates much: with Go's default of 100 the collector took a fifth of a call's CPU.
const garbagePercent = 400

// setGCPercent sets GOGC, unless the operator has set it. GOMEMLIMIT still applies.
func setGCPercent() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(garbagePercent)
	}
}

// profiledBytes is the sampling rate of heap profiles. With Go's default of 512 KiB, stack walks took 1.6 % of
// a busy process.
const profiledBytes = 8 << 20

// setMemProfileRate has to be called before the first allocation.
func setMemProfileRate() { runtime.MemProfileRate = profiledBytes }
