//go:build unix

package history

import (
	"os"
	"syscall"
)

// lock takes a file for this process, or fails where another one has it. It ends with the file, or with the process.
func lock(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) }

// share maps a file into memory, so that what is written there is in the file.
func share(f *os.File, size int) ([]byte, error) {
	return syscall.Mmap(int(f.Fd()), 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
}

func unshare(memory []byte) error { return syscall.Munmap(memory) }
