package executable

import (
	"os"
	"syscall"
	"testing"
)

// Write writes a program and returns its path. Until it is written, this process starts no other: a child would have the
// file open for a moment, and the program would not start ("text file busy").
func Write(t testing.TB, path, text string) string {
	t.Helper()
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil { //nolint:gosec // every user may run it
		t.Fatal(err)
	}
	return path
}
