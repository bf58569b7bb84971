package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

// clockFile is the variable that names the file with the clock's offset in seconds.
const clockFile = "CHAOS_CLOCK"

// The overlay of buildMovable: the wall clock of package time has an offset. The monotonic clock, which timers
// use, stays right, as when NTP sets a machine's clock.
const (
	clockRead  = "\tsec, nsec, mono := runtimeNow()\n"
	clockMoved = clockRead + "\tsec += moved.Load()\n"

	clockOffsetSource = `package time

import "sync/atomic"

var moved atomic.Int64

// MoveClock makes Now wrong by so many seconds.
func MoveClock(seconds int64) { moved.Store(seconds) }
`
	clockWatcherSource = `package main

import (
	"os"
	"strconv"
	"strings"
	"time"
)

func init() {
	go func() {
		for {
			if text, err := os.ReadFile(os.Getenv("` + clockFile + `")); err == nil {
				if n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64); err == nil {
					time.MoveClock(n)
				}
			}
			time.Sleep(20 * time.Millisecond)
		}
	}()
}
`
)

var buildMutex sync.Mutex

// buildMovable builds the program with an offset clock, by go build -overlay. The source tree is not changed.
func buildMovable(ctx context.Context, program string) error {
	buildMutex.Lock() // the second build uses the cache
	defer buildMutex.Unlock()
	dir, err := os.MkdirTemp("", "patchbay-clock-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	dirs, err := exec.CommandContext(ctx, "go", "list", "-f", "{{.Dir}}", "time", "patchbay/cmd/server").Output()
	if err != nil {
		return fmt.Errorf("find Go's own source: %w", err)
	}
	std, main, _ := strings.Cut(strings.TrimSpace(string(dirs)), "\n")
	original := filepath.Join(std, "time.go")
	text, err := os.ReadFile(original) //nolint:gosec // of the Go that builds this
	if err != nil {
		return err
	}
	head, rest, ok := strings.Cut(string(text), "\nfunc Now() Time {\n"+clockRead)
	if !ok {
		return errors.New("this Go reads its clock in another way than it is moved here")
	}
	head += "\nfunc Now() Time {\n" + clockMoved + rest
	replace := map[string]string{}
	for path, text := range map[string]string{original: head, filepath.Join(std, "moved.go"): clockOffsetSource, filepath.Join(main, "moved.go"): clockWatcherSource} {
		replace[path] = filepath.Join(dir, strconv.Itoa(len(replace))+".go")
		if err := os.WriteFile(replace[path], []byte(text), 0o600); err != nil {
			return err
		}
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return err
	}
	list := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(list, overlay, 0o600); err != nil {
		return err
	}
	if output, err := exec.CommandContext(ctx, "go", "build", "-trimpath", "-overlay", list, "-o", program, "patchbay/cmd/server").CombinedOutput(); err != nil { //nolint:gosec // our own program
		return fmt.Errorf("build the program with a clock that can be moved: %w\n%s", err, output)
	}
	return nil
}

// setClock sets the offset of a process's clock. The process polls the file.
func (r *replica) setClock(offset time.Duration) error {
	next := r.clock + ".next"
	if err := os.WriteFile(next, []byte(strconv.FormatInt(int64(offset/time.Second), 10)), 0o600); err != nil {
		return err
	}
	return os.Rename(next, r.clock)
}

// clockFaults move the clock of one process, or of all, as if PostgreSQL's had moved the other way.
func (w *world) clockFaults() []fault {
	if !w.movable {
		return nil
	}
	jump := func(replicas []*replica, offset time.Duration) func(context.Context) error {
		return func(context.Context) error {
			if w.clocksWrong.Store(math.MaxInt64); offset == 0 {
				defer func() { w.clocksWrong.Store(time.Now().Add(time.Second).UnixNano()) }()
			}
			var errs []error
			for _, r := range replicas {
				errs = append(errs, r.setClock(offset))
			}
			for _, r := range replicas {
				w.detectJump(r, offset)
			}
			return errors.Join(errs...)
		}
	}
	first, all := w.replicas[:1], w.replicas
	var faults []fault
	for name, f := range map[string]func(context.Context) error{
		"process 1's clock jumps an hour ahead":       jump(first, time.Hour),
		"process 1's clock jumps ten minutes back":    jump(first, -10*time.Minute),
		"all processes' clocks jump an hour ahead":    jump(all, time.Hour),
		"all processes' clocks jump ten minutes back": jump(all, -10*time.Minute),
	} {
		faults = append(faults, fault{name, f, jump(all, 0)})
	}
	return faults
}

// clocksAreRight reports whether no clock was wrong since then.
func (w *world) clocksAreRight(since time.Time) bool { return since.UnixNano() > w.clocksWrong.Load() }

// detectJump counts a jump that shows in the Date of a response (RFC 9110 section 6.6.1). A stopped process
// shows none.
func (w *world) detectJump(r *replica, offset time.Duration) {
	for range 50 {
		if ahead, ok := r.clockOffset(); ok && (ahead-offset).Abs() < time.Minute {
			w.jumps++
			return
		}
		<-time.After(20 * time.Millisecond)
	}
}

// clockOffset is how far a process's clock is ahead.
func (r *replica) clockOffset() (offset time.Duration, ok bool) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, r.base+"/healthz", nil)
	if err != nil {
		return 0, false
	}
	a, err := r.world.client.Do(q)
	if err != nil {
		return 0, false
	}
	_ = a.Body.Close()
	date, err := http.ParseTime(a.Header.Get("Date"))
	return time.Until(date), err == nil
}
