//go:build !amd64

package wire

// hasBlocks tells whether plainBlocks runs here.
const hasBlocks = false

func plainBlocks([]byte) int { return 0 }
