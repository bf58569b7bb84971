package toolsearch_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

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

// BenchmarkIndex builds the index of 3,000 tools.
func BenchmarkIndex(b *testing.B) {
	tools := largeTenant(b, 3000)
	b.ReportAllocs()
	for b.Loop() {
		toolsearch.New(tools)
	}
}

// BenchmarkSearch asks the questions of testdata at 3,000 tools.
func BenchmarkSearch(b *testing.B) {
	questions := readSet(b).questions
	x := toolsearch.New(largeTenant(b, 3000))
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		x.Search(questions[i%len(questions)].Text, 10, nil)
		i++
	}
}

// BenchmarkSearch_Longest asks a question of 64 words that many tools have.
func BenchmarkSearch_Longest(b *testing.B) {
	x := toolsearch.New(largeTenant(b, 3000))
	words := strings.Repeat("create list get delete update user name id file project value type date issue team page message group ", 8)
	b.ReportAllocs()
	for b.Loop() {
		x.Search(words, 10, nil)
	}
}

// BenchmarkReadParams reads the schemas of 3,000 tools.
func BenchmarkReadParams(b *testing.B) {
	definitions := readSet(b).definitions
	b.ReportAllocs()
	for b.Loop() {
		for i := range 3000 {
			toolsearch.ReadParams(definitions[i%len(definitions)].InputSchema)
		}
	}
}
