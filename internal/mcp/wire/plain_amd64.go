package wire

import "golang.org/x/sys/cpu"

// hasBlocks tells whether plainBlocks runs here: it takes AVX2.
var hasBlocks = cpu.X86.HasAVX2

// plainBlocks is how many bytes b begins with that stand for themselves, in whole blocks of [blockSize]. A long result is a few long
// strings, of which this is read at about five times the speed of what reads words of eight.
//
//go:noescape
func plainBlocks(b []byte) (n int)
