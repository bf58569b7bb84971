package paniclog

import (
	"encoding/json"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"patchbay/internal/safe"
)

// patience bounds the wait for a panic of a goroutine: other packages' tests may load both cores.
const patience = time.Minute

// Log is what the process logged about panics since a test's start.
type Log struct {
	*processLog
	before int // lines that are older
}

// processLog holds the lines of all tests: package safe has one logger.
type processLog struct {
	logger *slog.Logger

	mu    sync.Mutex
	lines []string // guarded by mu
}

// process is the log of package safe. The first call makes the package write to it.
var process = sync.OnceValue(func() *processLog {
	l := &processLog{}
	l.logger = slog.New(slog.NewJSONHandler(l, nil))
	safe.SetLogger(l.logger)
	return l
})

// Start returns the process's log from now on.
func Start() *Log {
	l := process()
	l.mu.Lock()
	defer l.mu.Unlock()
	return &Log{processLog: l, before: len(l.lines)}
}

// Logger returns a logger that writes to l, for options that have one.
func (l *processLog) Logger() *slog.Logger { return l.logger }

// Write implements io.Writer. Each write is one line.
func (l *processLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, string(p))
	return len(p), nil
}

// Want waits for a panic with a function in its stack, such as a test's, and wants it logged once as an error of this kind. The kind must
// be counted too, and no line may hold the value "a secret".
func (l *Log) Want(t testing.TB, kind safe.Kind, function string) {
	t.Helper()
	l.WantTimes(t, kind, function, 1)
}

// WantTimes is Want for a number of panics.
func (l *Log) WantTimes(t testing.TB, kind safe.Kind, function string, times int) {
	t.Helper()
	lines := l.waitFor(function, times)
	if len(lines) != times {
		t.Errorf("%d panics of %s are logged, and %d is right: %s", len(lines), function, times, strings.Join(lines, ""))
	}
	for _, line := range lines {
		var entry struct{ Level, Msg, Kind, Stack string }
		if err := json.Unmarshal([]byte(line), &entry); err != nil {
			t.Errorf("%q: %v", line, err)
		}
		if entry.Level != "ERROR" || entry.Msg != "panic recovered" || entry.Kind != kind.String() || !strings.Contains(entry.Stack, "panic(") {
			t.Errorf("logged as %s", line)
		}
		if strings.Contains(line, "a secret") {
			t.Errorf("the value of the panic is logged: %s", line)
		}
	}
	if safe.Count(kind) < uint64(len(lines)) {
		t.Errorf("%d panics of the kind %s are counted", safe.Count(kind), kind)
	}
}

// waitFor returns the lines about panics of a function when there are enough, or when patience has passed.
func (l *Log) waitFor(function string, times int) []string {
	end := time.After(patience)
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for {
		lines := l.linesAbout(function)
		if len(lines) >= times {
			return lines
		}
		select {
		case <-tick.C:
		case <-end:
			return lines
		}
	}
}

func (l *Log) linesAbout(function string) (about []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, line := range l.lines[l.before:] {
		if strings.Contains(line, `"msg":"panic recovered"`) && strings.Contains(line, "."+function) {
			about = append(about, line)
		}
	}
	return about
}
