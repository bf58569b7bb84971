package access

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"text/template"
	"time"
)

// Bounds of what one check may take.
const (
	maxCPU   = 50 * time.Millisecond
	maxAlloc = 16 << 20
)

// hostile is a schema that a server made to cost much, with arguments that help it.
type hostile struct {
	name              string
	schema, arguments json.RawMessage
}

// hostileSchemas reads testdata/hostile. The files are templates, so that they are short.
func hostileSchemas(t testing.TB) (all []hostile) {
	t.Helper()
	files, err := filepath.Glob("testdata/hostile/*.txt")
	if err != nil || len(files) < 40 {
		t.Fatal(err, len(files))
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		parts := strings.Split(string(text), "-- arguments --\n")
		if len(parts) != 2 {
			t.Fatalf("%s has %d parts", file, len(parts))
		}
		h := hostile{strings.TrimSuffix(filepath.Base(file), ".txt"), expanded(t, parts[0]), expanded(t, parts[1])}
		if !json.Valid(h.schema) || !json.Valid(h.arguments) || len(h.arguments) > 4<<20 {
			t.Fatalf("%s: the schema or the arguments are no JSON, or longer than a request", file)
		}
		all = append(all, h)
	}
	return all
}

// expanded executes a template with the functions repeat (times, text), list (times, text with %d and %n for the number and the next, separator)
// and nest (times, before, inside, after).
func expanded(t testing.TB, text string) json.RawMessage {
	t.Helper()
	parsed, err := template.New("").Funcs(template.FuncMap{
		"repeat": func(n int, text string) string { return strings.Repeat(text, n) },
		"nest": func(n int, before, inside, after string) string {
			return strings.Repeat(before, n) + inside + strings.Repeat(after, n)
		},
		"list": func(n int, text, separator string) string {
			all := make([]string, n)
			for i := range all {
				all[i] = strings.ReplaceAll(strings.ReplaceAll(text, "%d", strconv.Itoa(i)), "%n", strconv.Itoa(i+1))
			}
			return strings.Join(all, separator)
		},
	}).Parse(strings.TrimSpace(text))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := parsed.Execute(&out, nil); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// The work is counted, so that the bound holds on every machine: BenchmarkHostileSchemas says what a unit of it takes.
func TestHostileSchemaCostsABoundedAmount(t *testing.T) {
	t.Parallel()
	const beyond = 8 << 20 // the last step may be one look at all bytes
	for _, h := range hostileSchemas(t) {
		s := compile(h.schema)
		if s.work > maxWork+beyond {
			t.Errorf("%s: compiling takes %d units", h.name, s.work)
		}
		if s.bytes > 8<<20 {
			t.Errorf("%s: the compiled schema has %d bytes", h.name, s.bytes)
		}
		r := newRun(t.Context(), h.arguments)
		_, err := s.judgeWith(&r)
		if r.work > maxWork+beyond {
			t.Errorf("%s: a check takes %d units", h.name, r.work)
		}
		alone := newRun(t.Context(), h.arguments)
		if alone.judge(s.plan); alone.stopped && err != nil {
			t.Errorf("%s: what was not judged to its end is refused: %v", h.name, err)
		}
	}
}

// endingContext ends at the third look.
type endingContext struct {
	context.Context //nolint:containedctx // it is one
	run             *run
	looks           int
	work            int // that was done until then
}

func (c *endingContext) Err() error {
	switch c.looks++; {
	case c.looks < 3:
		return nil
	case c.looks == 3:
		c.work = c.run.work
	}
	return context.Canceled
}

func TestCheckEndsWithItsContext(t *testing.T) {
	t.Parallel()
	stopped := 0
	for _, h := range hostileSchemas(t) {
		s, r := compile(h.schema), newRun(t.Context(), h.arguments)
		ctx := &endingContext{Context: t.Context(), run: &r}
		r.ctx = ctx
		if _, err := s.judgeWith(&r); ctx.looks < 3 {
			continue // it was over before
		} else if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", h.name, err)
		}
		stopped++
		if after := r.work - ctx.work; after > workLook+maxDirect+2*len(h.arguments) {
			t.Errorf("%s: after its context had ended a check went on for %d units", h.name, after)
		}
	}
	if stopped < 20 {
		t.Errorf("%d checks were stopped: the test tests little", stopped)
	}
}

// usage is the CPU time that the process has used, garbage collection included, and the bytes that it has allocated.
func usage() (time.Duration, uint64) {
	var used syscall.Rusage
	var memory runtime.MemStats
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		panic(err)
	}
	runtime.ReadMemStats(&memory)
	return time.Duration(used.Utime.Nano() + used.Stime.Nano()), memory.TotalAlloc
}

// BenchmarkHostileSchemas prints what each hostile schema costs: to compile, to check arguments, and to check a result. The least of three
// counts. It fails above 50 ms of CPU or 16 MiB.
func BenchmarkHostileSchemas(b *testing.B) {
	for _, h := range hostileSchemas(b) {
		b.Run(h.name, func(b *testing.B) {
			steps := []struct {
				name string
				do   func()
			}{
				{"compile", func() { compile(h.schema) }},
				{"check", nil},
				{"result", nil},
			}
			s := compile(h.schema)
			steps[1].do = func() { _ = s.check(b.Context(), h.arguments) }
			of := &Tool{OutputSchema: h.schema}
			steps[2].do = func() { of.Misfit(b.Context(), h.arguments) }
			for b.Loop() {
				for i, step := range steps {
					cpu, bytes := measured(step.do)
					b.ReportMetric(float64(cpu.Microseconds())/1000, step.name+"-ms")
					b.ReportMetric(float64(bytes>>10), step.name+"-KiB")
					if i == 2 {
						cpu /= 2 // it compiles the schema and checks with it
					}
					if cpu > maxCPU || bytes > maxAlloc {
						b.Errorf("%s: %v of CPU and %d bytes", step.name, cpu, bytes)
					}
				}
			}
		})
	}
}

// measured is the least CPU time and memory of three times.
func measured(do func()) (time.Duration, uint64) {
	var cpus []time.Duration
	var bytes []uint64
	for range 3 {
		runtime.GC()
		cpu, allocated := usage()
		do()
		cpuAfter, allocatedAfter := usage()
		cpus, bytes = append(cpus, cpuAfter-cpu), append(bytes, allocatedAfter-allocated)
	}
	return slices.Min(cpus), slices.Min(bytes)
}
