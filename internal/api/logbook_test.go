package api_test

import (
	"strings"
	"sync"
)

// logbook stores the log.
type logbook struct {
	mu   sync.Mutex
	text strings.Builder // guarded by mu
}

func (l *logbook) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logbook) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}
