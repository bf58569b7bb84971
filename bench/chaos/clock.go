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

// clockFile names, in a program built by buildMovable, the file that says by how many seconds its clock is wrong.
const clockFile = "CHAOS_CLOCK"

// What buildMovable changes: the wall clock of Go's package time is wrong by as much as somebody says. The monotonic clock, by which timers
// and deadlines go, stays right, as it does where an operator or NTP sets a machine's clock.
const (
	readsClock = "\tsec, nsec, mono := runtimeNow()\n"
	movesClock = readsClock + "\tsec += moved.Load()\n"

	movedClock = `package time

import "sync/atomic"

var moved atomic.Int64

// MoveClock makes Now wrong by so many seconds.
func MoveClock(seconds int64) { moved.Store(seconds) }
`
	watchesClock = `package main

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

var building sync.Mutex

// buildMovable builds the program with a clock that can be moved. Nothing of the source tree is touched: the compiler is given other files
// in place of Go's own (go build -overlay).
func buildMovable(ctx context.Context, program string) error {
	building.Lock() // the compiler's cache helps the second one
	defer building.Unlock()
	dir, err := os.MkdirTemp("", "patchbay-clock-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	where, err := exec.CommandContext(ctx, "go", "list", "-f", "{{.Dir}}", "time", "patchbay/cmd/server").Output()
	if err != nil {
		return fmt.Errorf("find Go's own source: %w", err)
	}
	std, main, _ := strings.Cut(strings.TrimSpace(string(where)), "\n")
	original := filepath.Join(std, "time.go")
	text, err := os.ReadFile(original) //nolint:gosec // of the Go that builds this
	if err != nil {
		return err
	}
	head, rest, ok := strings.Cut(string(text), "\nfunc Now() Time {\n"+readsClock)
	if !ok {
		return errors.New("this Go reads its clock in another way than it is moved here")
	}
	head += "\nfunc Now() Time {\n" + movesClock + rest
	replace := map[string]string{}
	for path, text := range map[string]string{original: head, filepath.Join(std, "moved.go"): movedClock, filepath.Join(main, "moved.go"): watchesClock} {
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
	if said, err := exec.CommandContext(ctx, "go", "build", "-trimpath", "-overlay", list, "-o", program, "patchbay/cmd/server").CombinedOutput(); err != nil { //nolint:gosec // our own program
		return fmt.Errorf("build the program with a clock that can be moved: %w\n%s", err, said)
	}
	return nil
}

// move sets by how much a process' clock is wrong. It notices within a moment.
func (r *replica) move(by time.Duration) error {
	next := r.clock + ".next"
	if err := os.WriteFile(next, []byte(strconv.FormatInt(int64(by/time.Second), 10)), 0o600); err != nil {
		return err
	}
	return os.Rename(next, r.clock)
}

// clocks jump: those of one process, which is then at odds with the others and with PostgreSQL, or those of all, as if PostgreSQL's had jumped
// the other way.
func (w *world) clocks() []fault {
	if !w.movable {
		return nil
	}
	jump := func(which []*replica, by time.Duration) func(context.Context) error {
		return func(context.Context) error {
			if w.clocksWrong.Store(math.MaxInt64); by == 0 {
				defer func() { w.clocksWrong.Store(time.Now().Add(time.Second).UnixNano()) }()
			}
			var errs []error
			for _, r := range which {
				errs = append(errs, r.move(by))
			}
			for _, r := range which {
				w.seeJump(r, by)
			}
			return errors.Join(errs...)
		}
	}
	one, all := w.replicas[:1], w.replicas
	var faults []fault
	for name, f := range map[string]func(context.Context) error{
		"process 1's clock jumps an hour ahead":       jump(one, time.Hour),
		"process 1's clock jumps ten minutes back":    jump(one, -10*time.Minute),
		"all processes' clocks jump an hour ahead":    jump(all, time.Hour),
		"all processes' clocks jump ten minutes back": jump(all, -10*time.Minute),
	} {
		faults = append(faults, fault{name, f, jump(all, 0)})
	}
	return faults
}

// clocksRight tells whether no clock was wrong since a moment.
func (w *world) clocksRight(since time.Time) bool { return since.UnixNano() > w.clocksWrong.Load() }

// seeJump counts a jump that the process itself shows, by the Date of an answer (RFC 9110, section 6.6.1). One that is down shows none.
func (w *world) seeJump(r *replica, by time.Duration) {
	for range 50 {
		if ahead, ok := r.ahead(); ok && (ahead-by).Abs() < time.Minute {
			w.jumps++
			return
		}
		<-time.After(20 * time.Millisecond)
	}
}

// ahead is by how much a process' clock is ahead of ours.
func (r *replica) ahead() (by time.Duration, ok bool) {
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
	at, err := http.ParseTime(a.Header.Get("Date"))
	return time.Until(at), err == nil
}
