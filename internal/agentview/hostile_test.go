//go:build !race

// The race detector finds nothing in these computations and takes ten times as long.

package agentview

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"text/template"
	"time"
)

// Bounds of one check.
const (
	maxCPU   = 50 * time.Millisecond
	maxAlloc = 16 << 20
)

// hostileCase is a schema that is built to be expensive, with matching arguments.
type hostileCase struct {
	name              string
	schema, arguments json.RawMessage
}

// hostileSchemas returns the cases of testdata/hostile.
func hostileSchemas(t testing.TB) []hostileCase {
	t.Helper()
	all, err := readHostileSchemas()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

var readHostileSchemas = sync.OnceValues(func() (all []hostileCase, err error) {
	files, err := filepath.Glob("testdata/hostile/*.txt")
	if err != nil {
		return nil, err
	}
	if len(files) < 40 {
		return nil, fmt.Errorf("there are only %d files", len(files))
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		parts := strings.Split(string(text), "-- arguments --\n")
		if len(parts) != 2 {
			return nil, fmt.Errorf("%s has %d parts", file, len(parts))
		}
		h := hostileCase{name: strings.TrimSuffix(filepath.Base(file), ".txt")}
		if h.schema, err = expandTemplate(parts[0]); err != nil {
			return nil, err
		}
		if h.arguments, err = expandTemplate(parts[1]); err != nil {
			return nil, err
		}
		if !json.Valid(h.schema) || !json.Valid(h.arguments) || len(h.arguments) > 4<<20 {
			return nil, fmt.Errorf("%s: the schema or the arguments are no JSON, or longer than a request", file)
		}
		all = append(all, h)
	}
	return all, nil
})

// expandTemplate executes a template with the functions repeat (count, text), list (count, text with %d and %n for
// this and the next number, separator) and nest (count, before, inside, after).
func expandTemplate(text string) (json.RawMessage, error) {
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
		return nil, err
	}
	var out bytes.Buffer
	if err := parsed.Execute(&out, nil); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// The test counts work units, so that its bound holds on every machine. BenchmarkHostileSchemas measures a
// unit.
func TestHostileSchema_CostIsBounded(t *testing.T) {
	t.Parallel()
	const beyond = 8 << 20 // the last step may read all bytes once
	for _, h := range hostileSchemas(t) {
		s := compileSchema(h.schema)
		if s.compileWork > maxWork+beyond {
			t.Errorf("%s: compiling takes %d units", h.name, s.compileWork)
		}
		if s.bytes > 8<<20 {
			t.Errorf("%s: the compiled schema has %d bytes", h.name, s.bytes)
		}
		r := newValidator(t.Context(), h.arguments)
		_, err := s.validateWith(&r)
		if r.work > maxWork+beyond {
			t.Errorf("%s: a check takes %d units", h.name, r.work)
		}
		alone := newValidator(t.Context(), h.arguments)
		if alone.validate(s.plan); alone.stopped && err != nil {
			t.Errorf("%s: what was not judged to its end is refused: %v", h.name, err)
		}
	}
}

// endingContext is canceled at the third call of Err.
type endingContext struct {
	context.Context //nolint:containedctx // it is one
	run             *validator
	looks           int
	work            int // work done until then
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

func TestValidate_StopsWithContext(t *testing.T) {
	t.Parallel()
	stopped := 0
	for _, h := range hostileSchemas(t) {
		s, r := compileSchema(h.schema), newValidator(t.Context(), h.arguments)
		ctx := &endingContext{Context: t.Context(), run: &r}
		r.ctx = ctx
		if _, err := s.validateWith(&r); ctx.looks < 3 {
			continue // it finished before the third call
		} else if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", h.name, err)
		}
		stopped++
		if after := r.work - ctx.work; after > contextCheckWork+maxUninterrupted+2*len(h.arguments) {
			t.Errorf("%s: after its context had ended a check went on for %d units", h.name, after)
		}
	}
	if stopped < 20 {
		t.Errorf("%d checks were stopped: the test tests little", stopped)
	}
}

// usage returns the CPU time of the process, with garbage collection, and the bytes allocated.
func usage() (time.Duration, uint64) {
	var used syscall.Rusage
	var memory runtime.MemStats
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		panic(err)
	}
	runtime.ReadMemStats(&memory)
	return time.Duration(used.Utime.Nano() + used.Stime.Nano()), memory.TotalAlloc
}

func TestUnchecked_LongReferenceIsNotFollowed(t *testing.T) {
	t.Parallel()
	for length, followed := range map[int]bool{100: true, maxRefBytes: false} {
		name := strings.Repeat("a", length)
		schema := []byte(`{"properties":{"p":{"$ref":"#/$defs/` + name + `"}},"$defs":{"` + name + `":{"type":"string"}}}`)
		unchecked := UncheckedParts(schema)
		want := []UncheckedPart{{"/properties/p/$ref", UncheckedReference}}
		if followed {
			want = nil
		}
		if !slices.Equal(unchecked, want) {
			t.Errorf("%d bytes: %v", length, unchecked)
		}
	}
}

// hostileStep is one use of a hostile schema.
type hostileStep struct {
	name string
	do   func()
}

// steps returns the uses of a hostile schema: to compile it, to check arguments, and to check a result, which
// does both.
func (h hostileCase) steps(ctx context.Context) []hostileStep {
	s := compileSchema(h.schema)
	tool := &Tool{OutputSchema: h.schema}
	return []hostileStep{
		{"compile", func() { compileSchema(h.schema) }},
		{"check", func() { _ = s.check(ctx, h.arguments) }},
		{"result", func() { tool.CheckOutput(ctx, h.arguments) }},
	}
}

// TestHostileSchema_MemoryIsBounded is not parallel: it measures the allocations of the process. A result is compiled
// and checked, so its sum bounds both.
func TestHostileSchema_MemoryIsBounded(t *testing.T) {
	for _, h := range hostileSchemas(t) {
		tool := &Tool{OutputSchema: h.schema}
		_, before := usage()
		tool.CheckOutput(t.Context(), h.arguments)
		if _, after := usage(); after-before > maxAlloc {
			t.Errorf("%s: compiling and checking allocate %d KiB", h.name, (after-before)>>10)
		}
	}
}

// BenchmarkHostileSchemas prints the cost of each use of each hostile schema. The minimum of three runs counts.
// It fails above 50 ms of CPU.
func BenchmarkHostileSchemas(b *testing.B) {
	for _, h := range hostileSchemas(b) {
		b.Run(h.name, func(b *testing.B) {
			steps := h.steps(b.Context())
			for b.Loop() {
				for _, step := range steps {
					cpu, bytes := measureMin(step.do)
					b.ReportMetric(float64(cpu.Microseconds())/1000, step.name+"-ms")
					b.ReportMetric(float64(bytes>>10), step.name+"-KiB")
					if cpu > maxCPU {
						b.Errorf("%s: %v of CPU", step.name, cpu)
					}
				}
			}
		})
	}
}

// measureMin returns the minimum CPU time and memory of three runs.
func measureMin(do func()) (time.Duration, uint64) {
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
