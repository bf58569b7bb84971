package calllog

import (
	"errors"
	"os"
	"syscall"
)

// allocateFile reserves all blocks of a file. A write to mapped memory without a block on disk would kill the
// process.
func allocateFile(f *os.File, size int64) error {
	err := syscall.Fallocate(int(f.Fd()), 0, 0, size)
	if errors.Is(err, syscall.EOPNOTSUPP) || errors.Is(err, syscall.ENOSYS) { // unsupported by some file systems
		return f.Truncate(size)
	}
	return err
}
