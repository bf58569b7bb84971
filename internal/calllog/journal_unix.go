//go:build unix

package calllog

import (
	"os"
	"syscall"
)

// lockFile locks a file for this process, or fails if another process has it. The lock ends with the file.
func lockFile(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) }

// mapFile maps a file into memory.
func mapFile(f *os.File, size int) ([]byte, error) {
	return syscall.Mmap(int(f.Fd()), 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
}

func unmapFile(memory []byte) error { return syscall.Munmap(memory) }
