package toolchange_test

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"patchbay/internal/toolchange"
)

// maxAlloc and maxCPU bound one comparison of any two definitions.
const (
	maxAlloc = 16 << 20
	maxCPU   = 50 * time.Millisecond
)

// hostileSizes are sizes of each definition: from usual ones to the largest that are compared.
var hostileSizes = []int{1 << 12, 1 << 14, 1 << 15, 1 << 16, 3 << 15, 1 << 17, 1 << 18, 1<<19 - 1<<12}

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

// TestCompare_WorkIsBounded is not parallel: it measures the allocations of the process.
func TestCompare_WorkIsBounded(t *testing.T) {
	exhausted := 0
	for _, h := range slices.Concat(hostilePairs(), hostileTexts()) {
		for _, size := range hostileSizes {
			before, now := h.build(size)
			rawBefore, rawNow := []byte(before), []byte(now)
			budget := toolchange.NewBudget(nil)
			_, start := usage()
			c := budget.Compare(rawBefore, rawNow, nil)
			_, end := usage()
			if allocated := end - start; allocated > maxAlloc && !underRace || budget.Used() > toolchange.MaxWork {
				t.Errorf("%s, %d bytes: %d units of work, %d KiB", h.name, len(now), budget.Used(), allocated>>10)
			}
			if len(c.Differences) == 0 || len(c.Differences) > 100 {
				t.Errorf("%s, %d bytes: %d differences", h.name, len(now), len(c.Differences))
			}
			if budget.Used() < toolchange.MaxWork {
				continue
			}
			if exhausted++; c.Risk != toolchange.High || !saysTooLarge(c) {
				t.Errorf("%s, %d bytes: risk %s, %v", h.name, len(now), c.Risk, c.Kinds)
			}
		}
	}
	if exhausted < 20 {
		t.Errorf("%d comparisons used their work up: the test tests little", exhausted)
	}
}

// saysTooLarge reports whether a change says that a part was not compared.
func saysTooLarge(c toolchange.Change) bool {
	return slices.ContainsFunc(c.Differences, func(d toolchange.Difference) bool {
		return d.Kind == toolchange.TypeChanged && strings.Contains(d.Sentence, " too large ")
	})
}

func TestCompare_LargeDefinitionsAreHighRisk(t *testing.T) {
	t.Parallel()
	many := repeated(`"p%d":{"type":"string"}`, 15_000)
	long := strings.Repeat("a", 2<<20)
	described := func(description string) string {
		return fmt.Sprintf(`{"name":"t","outputSchema":{"properties":{%s,"z":{"description":%q}}}}`, many, description)
	}
	for name, tc := range map[string]struct{ before, now, path string }{
		"a description in a result":    {described("a"), described("b"), "result"},
		"a title beside a long member": {`{"name":"t","title":"a","_meta":{` + many + `}}`, `{"name":"t","title":"b","_meta":{"x":1,` + many + `}}`, "_meta"},
		"definitions that are cut":     {`{"name":"t","title":"a` + long + `"}`, `{"name":"t","title":"b` + long + `"}`, ""},
		"a new tool that only reads":   {"", `{"name":"t","annotations":{"readOnlyHint":true},"title":"` + long + `"}`, ""},
		"a new tool with many values":  {"", `{"name":"t","annotations":{"readOnlyHint":true},"outputSchema":{` + many + `}}`, ""},
	} {
		var before []byte
		if tc.before != "" {
			before = []byte(tc.before)
		}
		c := toolchange.Compare(before, []byte(tc.now), nil)
		if c.Risk != toolchange.High || !saysTooLarge(c) || c.Has(toolchange.NewTool) != (before == nil) {
			t.Errorf("%s: risk %s, %+v", name, c.Risk, c.Differences)
		}
		if !slices.ContainsFunc(c.Differences, func(d toolchange.Difference) bool { return d.Path == tc.path }) {
			t.Errorf("%s: no difference at %q: %+v", name, tc.path, c.Differences)
		}
	}
	same := []byte(`{"name":"t","title":"` + long + `"}`)
	if c := toolchange.Compare(same, slices.Clone(same), nil); len(c.Kinds) > 0 {
		t.Errorf("equal definitions: %v", c.Kinds)
	}
}

// TestCompare_SmallMembersBesideLargeOnes compares what is small.
func TestCompare_SmallMembersBesideLargeOnes(t *testing.T) {
	t.Parallel()
	tool := func(description, core string) string {
		return fmt.Sprintf(`{"name":"t","description":%q,"inputSchema":{"default":[%s1],"x":%s}}`, description, strings.Repeat("{},", 50_000), core)
	}
	c := toolchange.Compare([]byte(tool("a", "1")), []byte(tool("See https://a.example.", "2")), nil)
	if !c.Has(toolchange.Text) || !c.Has(toolchange.NewLink) || !saysTooLarge(c) {
		t.Errorf("%+v", c.Differences)
	}
}

func TestCompare_RequiredNamesAreAllCompared(t *testing.T) {
	t.Parallel()
	schema := func(required string) string {
		return toolJSON(`{"properties":{"z":{}},"required":[` + repeated(`"p%d"`, 500) + required + `]}`)
	}
	if c := toolchange.Compare([]byte(schema("")), []byte(schema(`,"z"`)), nil); len(c.Kinds) != 1 || !c.Has(toolchange.RequiredAdded) {
		t.Errorf("%v", c.Kinds)
	}
	if c := toolchange.Compare([]byte(schema(`,"z"`)), []byte(schema("")), nil); len(c.Kinds) != 1 || !c.Has(toolchange.RequiredRemoved) {
		t.Errorf("%v", c.Kinds)
	}
}

func TestCompare_LinksBesideOtherText(t *testing.T) {
	t.Parallel()
	words := strings.Repeat("word ", 1000)
	for text, want := range map[string]string{
		"Www.a.example and http://b.example":               `"Www.a.example" "http://b.example"`,
		"http://b.example and wWw.a.example.":              `"http://b.example" "wWw.a.example"`,
		words + "x git+ssh://a.example/x\\u000cy " + words: `"git+ssh://a.example/x"`,
		words + "éabcdefghijklmnopqrstu://a.example":       `"abcdefghijklmnopqrstu://a.example"`,
		words + "abcdefghijklmnopqrstuv://a.example":       "",
		"nothing: //": "",
	} {
		var found []string
		for _, d := range toolchange.Compare([]byte(`{"name":"t","description":"x"}`), []byte(`{"name":"t","description":"`+text+`"}`), nil).Differences {
			if d.Kind == toolchange.NewLink {
				found = append(found, d.After)
			}
		}
		if got := strings.Join(found, " "); got != want {
			t.Errorf("%.60q: %s, want %s", text, got, want)
		}
	}
}

func TestBudget_EndsWithDone(t *testing.T) {
	t.Parallel()
	done := make(chan struct{})
	budget := toolchange.NewBudget(done)
	before, now := []byte(`{"name":"t","title":"a"}`), []byte(`{"name":"t","title":"b"}`)
	if c := budget.Compare(before, now, nil); c.Risk != toolchange.None {
		t.Fatalf("%+v", c)
	}
	close(done)
	used := budget.Used()
	if c := budget.Compare(before, now, nil); c.Risk != toolchange.High || !saysTooLarge(c) {
		t.Errorf("risk %s, %+v", c.Risk, c.Differences)
	}
	if more := budget.Used() - used; more > 1000 {
		t.Errorf("%d more units of work", more)
	}
}

func TestBudget_BoundsAllComparisons(t *testing.T) {
	t.Parallel()
	budget := toolchange.NewBudget(nil)
	largeBefore, largeNow := hostileTexts()[0].build(1 << 16)
	before, now := []byte(`{"name":"t","title":"a"}`), []byte(`{"name":"t","title":"b"}`)
	count := 0
	for ; budget.Used() < toolchange.MaxListWork && count < 1000; count++ {
		budget.Compare([]byte(largeBefore), []byte(largeNow), nil)
	}
	if count < 64 || count > 200 {
		t.Fatalf("%d comparisons used %d units of work", count, budget.Used())
	}
	if c := budget.Compare(before, now, nil); c.Risk != toolchange.High || !saysTooLarge(c) {
		t.Errorf("risk %s, %+v", c.Risk, c.Differences)
	}
}

func TestDiffText_LongTextsKeepEveryCharacter(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ä用", 40_000)
	for _, pair := range [][2]string{{long + "ä" + long, long + "ö" + long}, {long, long}, {long, long + long}, {long, "ä"}, {"x" + long, "y"}} {
		var before, now strings.Builder
		for _, s := range toolchange.DiffText(pair[0], pair[1]) {
			if !utf8.ValidString(s.Text) || s.Text == "" {
				t.Errorf("%s %.20q is not in whole characters", s.Op, s.Text)
			}
			if s.Op != toolchange.Inserted {
				before.WriteString(s.Text)
			}
			if s.Op != toolchange.Deleted {
				now.WriteString(s.Text)
			}
		}
		if before.String() != pair[0] || now.String() != pair[1] {
			t.Errorf("%.20q → %.20q: characters are missing", pair[0], pair[1])
		}
	}
}

// hostileStep is a use of hostile definitions other than their comparison.
type hostileStep struct {
	name string
	do   func()
}

func hostileSteps() []hostileStep {
	var steps []hostileStep
	for name, pair := range map[string][2]string{
		"short words":       {repeated("a%d", 7500), repeated("b%d", 7500)},
		"other words":       {strings.Repeat("a ", 749), strings.Repeat("b ", 749)},
		"words with a tail": {strings.Repeat("a", 60_000) + strings.Repeat(" a", 749), strings.Repeat("a", 60_000) + strings.Repeat(" b", 749)},
		"dots":              {strings.Repeat(".", 64<<10), strings.Repeat(".,", 32<<10)},
		"long texts":        {strings.Repeat("a.", 4<<20), strings.Repeat("b.", 4<<20)},
		"names of tools":    {repeated("get_%d", 44_000), repeated("put_%d", 44_000)},
		"more names":        {repeated("get_%d", 600_000), repeated("put_%d", 600_000)},
	} {
		before, now := []byte(pair[0]), []byte(pair[1])
		steps = append(steps,
			hostileStep{"DiffText, " + name, func() { toolchange.DiffText(pair[0], pair[1]) }},
			hostileStep{"Mentions, " + name, func() { toolchange.Mentions(before, now) }},
		)
	}
	return steps
}

// TestHostileSteps_AllocationsAreBounded is not parallel: it measures the allocations of the process.
func TestHostileSteps_AllocationsAreBounded(t *testing.T) {
	for _, step := range hostileSteps() {
		_, start := usage()
		step.do()
		if _, end := usage(); end-start > maxAlloc {
			t.Errorf("%s: %d KiB", step.name, (end-start)>>10)
		}
	}
}

// BenchmarkHostileDefinitions prints the largest cost of each shape over all sizes. It fails above 50 ms of CPU
// or 16 MiB.
func BenchmarkHostileDefinitions(b *testing.B) {
	for _, h := range slices.Concat(hostilePairs(), hostileTexts()) {
		b.Run(h.name, func(b *testing.B) {
			var steps []func()
			for _, size := range hostileSizes {
				before, now := h.build(size)
				rawBefore, rawNow := []byte(before), []byte(now)
				steps = append(steps, func() { toolchange.Compare(rawBefore, rawNow, nil) })
			}
			reportLargest(b, steps...)
		})
	}
	for _, step := range hostileSteps() {
		b.Run(step.name, func(b *testing.B) { reportLargest(b, step.do) })
	}
}

// reportLargest reports the largest cost of the steps, each as the minimum of three runs.
func reportLargest(b *testing.B, steps ...func()) {
	var cpu time.Duration
	var allocated uint64
	for b.Loop() {
		for _, do := range steps {
			stepCPU, stepAllocated := measureMin(do)
			cpu, allocated = max(cpu, stepCPU), max(allocated, stepAllocated)
		}
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(cpu.Microseconds())/1000, "ms")
	b.ReportMetric(float64(allocated)/(1<<20), "MiB")
	if cpu > maxCPU || allocated > maxAlloc {
		b.Errorf("%v of CPU, %d KiB", cpu, allocated>>10)
	}
}

// measureMin returns the minimum CPU time and memory of three runs.
func measureMin(do func()) (time.Duration, uint64) {
	var cpus []time.Duration
	var allocations []uint64
	for range 3 {
		runtime.GC()
		cpu, allocated := usage()
		do()
		cpuAfter, allocatedAfter := usage()
		cpus, allocations = append(cpus, cpuAfter-cpu), append(allocations, allocatedAfter-allocated)
	}
	return slices.Min(cpus), slices.Min(allocations)
}
