package toolsearch_test

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"patchbay/internal/toolsearch"
)

// largeTenant returns n tools: the definitions of testdata, again under other names until there are enough.
func largeTenant(tb testing.TB, n int) []toolsearch.Tool {
	tb.Helper()
	set := readSet(tb)
	definitions := set.definitions
	tools := make([]toolsearch.Tool, n)
	for i := range tools {
		tools[i] = set.tool(&definitions[i%len(definitions)])
		if i >= len(definitions) {
			tools[i].Name += fmt.Sprintf("_%d", i/len(definitions))
		}
	}
	return tools
}

func heapInUse() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// TestIndex_Memory asserts the size of an index of 3,000 tools, and the estimate of Bytes.
func TestIndex_Memory(t *testing.T) {
	tools := largeTenant(t, 3000)
	before := heapInUse()
	x := toolsearch.New(tools)
	used := int(heapInUse() - before)
	runtime.KeepAlive(tools)
	t.Logf("%d KiB, estimated %d KiB", used>>10, x.Bytes()>>10)
	if used > 10<<20 {
		t.Errorf("an index of 3,000 tools has %d bytes", used)
	}
	if x.Bytes() < used*3/4 || x.Bytes() > used*3/2 {
		t.Errorf("Bytes estimates %d, and the heap has %d", x.Bytes(), used)
	}
}

// TestSearch_AllocatesLittle bounds the work of a build and of a search by what they allocate.
func TestSearch_AllocatesLittle(t *testing.T) {
	tools := largeTenant(t, 3000)
	x := toolsearch.New(tools)
	if n := testing.AllocsPerRun(1, func() { toolsearch.New(tools) }); n > 60_000 {
		t.Errorf("an index of 3,000 tools takes %.0f allocations", n)
	}
	question := strings.Repeat("Which invoices of the customer were paid late, and who approved the refund? ", 100)
	if n := testing.AllocsPerRun(20, func() { x.Search(question, 10, nil) }); n > 600 {
		t.Errorf("a search takes %.0f allocations", n)
	}
}

// reportCPU reports the CPU time of an operation: other programs on the machine do not count in it.
func reportCPU(b *testing.B) func() {
	b.Helper()
	before := cpuTime(b)
	return func() {
		b.ReportMetric(float64((cpuTime(b)-before).Microseconds())/1000/float64(b.N), "cpu-ms/op")
	}
}

func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var usage unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// BenchmarkIndex builds the index of 3,000 tools.
func BenchmarkIndex(b *testing.B) {
	tools := largeTenant(b, 3000)
	b.ReportAllocs()
	defer reportCPU(b)()
	for b.Loop() {
		toolsearch.New(tools)
	}
}

// BenchmarkSearch asks the questions of testdata at 3,000 tools, and reports the 95th percentile.
func BenchmarkSearch(b *testing.B) {
	askAll(b, nil)
}

func askAll(b *testing.B, learned toolsearch.Learned) {
	b.Helper()
	questions := readSet(b).questions
	x := toolsearch.New(largeTenant(b, 3000))
	var times []time.Duration
	b.ReportAllocs()
	defer reportCPU(b)()
	for b.Loop() {
		start := time.Now()
		x.Search(questions[len(times)%len(questions)].Text, 10, learned)
		times = append(times, time.Since(start))
	}
	slices.Sort(times)
	b.ReportMetric(float64(times[len(times)*95/100].Microseconds())/1000, "p95-ms")
}

// BenchmarkSearch_History asks them with a full history.
func BenchmarkSearch_History(b *testing.B) {
	questions := readSet(b).questions
	x, learned := toolsearch.New(largeTenant(b, 3000)), toolsearch.Learned{}
	for i, q := range questions {
		for _, term := range x.KnownTerms(q.Text) {
			if learned[term] == nil {
				learned[term] = map[string]float64{}
			}
			if name := q.Server + "__" + q.Tool; len(learned[term]) < toolsearch.MaxLearnedTools {
				learned[term][name] += float64(1 + i%3)
			}
		}
	}
	askAll(b, learned)
}

// BenchmarkSearch_Longest asks a question of 64 words that many tools have.
func BenchmarkSearch_Longest(b *testing.B) {
	x := toolsearch.New(largeTenant(b, 3000))
	words := strings.Repeat("create list get delete update user name id file project value type date issue team page message group ", 8)
	b.ReportAllocs()
	defer reportCPU(b)()
	for b.Loop() {
		x.Search(words, 10, nil)
	}
}

// BenchmarkReadParams reads the schemas of 3,000 tools.
func BenchmarkReadParams(b *testing.B) {
	definitions := readSet(b).definitions
	b.ReportAllocs()
	defer reportCPU(b)()
	for b.Loop() {
		for i := range 3000 {
			toolsearch.ReadParams(definitions[i%len(definitions)].InputSchema)
		}
	}
}
