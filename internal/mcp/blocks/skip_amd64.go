package blocks

import "golang.org/x/sys/cpu"

func skipBlocks(b []byte, x, y byte, least int8) int {
	if !cpu.X86.HasAVX2 {
		return 0
	}
	return skip(b, x, y, least)
}

// skip requires AVX2.
//
//go:noescape
func skip(b []byte, x, y byte, least int8) (n int)
