package postgres

import (
	"fmt"
	"io"
	"os"
	"syscall"

	"patchbay/internal/fault"
)

const maxLog = 4 << 20 // bytes; a longer log is put aside at the next start, in place of the one before

// openLog opens PostgreSQL's own log. It is a file rather than a pipe to us: PostgreSQL's last words must not depend
// on our being alive.
func (c *Cluster) openLog() (*os.File, error) {
	path := c.layout.log()
	if info, err := os.Stat(path); err == nil && info.Size() > maxLog {
		_ = os.Rename(path, path+".1")
	}
	// The directory belongs to PostgreSQL's user: a link of its making must not lead root elsewhere.
	file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, fault.Wrap(fault.Unavailable, err, fmt.Sprintf("%s cannot be written.", path))
	}
	return file, nil
}

// logTail is the end of the log, for an error.
func (c *Cluster) logTail() string {
	file, err := os.Open(c.layout.log())
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
