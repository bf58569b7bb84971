package postgres

import (
	"fmt"
	"io"
	"os"
	"syscall"

	"patchbay/internal/fault"
)

const maxLog = 4 << 20 // bytes; the next start renames a longer log and replaces the previous one

// openLog opens PostgreSQL's own log. It is a file instead of a pipe to this process, so that PostgreSQL's last
// messages survive it.
func (c *Cluster) openLog() (*os.File, error) {
	path := c.layout.logFile()
	if info, err := os.Stat(path); err == nil && info.Size() > maxLog {
		_ = os.Rename(path, path+".1")
	}
	// The directory belongs to PostgreSQL's user: its symlinks must not lead root elsewhere.
	file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, fault.Wrap(fault.Unavailable, err, fmt.Sprintf("%s cannot be written.", path))
	}
	return file, nil
}

// logTail is the end of the log, for an error.
func (c *Cluster) logTail() string {
	file, err := os.Open(c.layout.logFile())
	if err != nil {
		return ""
	}
	defer file.Close()
	if info, err := file.Stat(); err == nil && info.Size() > 2048 {
		_, _ = file.Seek(-2048, io.SeekEnd)
	}
	text, err := io.ReadAll(file)
	if err != nil {
		return ""
	}
	return lastLines(string(text), 3)
}
