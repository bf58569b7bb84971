package tools

import (
	"context"
	"encoding/json"
	"maps"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"patchbay/internal/admin/shell"
)

// Bounds of one page about a tool.
const (
	maxPageCPU   = 50 * time.Millisecond
	maxPageAlloc = 16 << 20
)

// hostileSchemas are built to make the page of a tool expensive.
func hostileSchemas() map[string]string {
	list := func(n int, text string) string {
		all := make([]string, n)
		for i := range all {
			all[i] = strings.ReplaceAll(text, "%d", strconv.Itoa(i))
		}
		return strings.Join(all, ",")
	}
	nest := func(n int, before, inside, after string) string {
		return strings.Repeat(before, n) + inside + strings.Repeat(after, n)
	}
	// shared has 90 properties that refer to one schema.
	shared := func(schema string) string {
		return `{"properties":{` + list(90, `"p%d":{"$ref":"#/x"}`) + `},"x":` + schema + `}`
	}
	long := strings.Repeat("x", 100<<10)
	return map[string]string{
		"pointer of many steps":    `{"properties":{` + list(90, `"p%d":{"$ref":"#`+strings.Repeat("/a", 600)+`/%d"}`) + `},"a":` + nest(600, `{"a":`, `{}`, `}`) + `}`,
		"pointer to nothing":       `{"properties":{"p":{"$ref":"#` + strings.Repeat("/properties", 5_000) + `"}},"x":"` + strings.Repeat("x", 60<<10) + `"}`,
		"pointer into an object":   `{"properties":{"p":{"$ref":"#/a` + strings.Repeat("/a", 5_000) + `"}},"a":` + nest(5_000, `{"a":`, `{"b":"`+strings.Repeat("x", 30<<10)+`"}`, `}`) + `}`,
		"pointers to many":         `{"properties":{` + list(90, `"p%d":{"$ref":"#/x/y%d"}`) + `},"x":{` + list(9_000, `"y%d":{}`) + `}}`,
		"references in a chain":    `{"properties":{` + list(90, `"p%d":{"$ref":"#/x/0"}`) + `},"x":[` + list(4_000, `{"$ref":"#/x/%d"}`) + `]}`,
		"enum":                     shared(`{"enum":[` + list(15_000, `"%d"`) + `]}`),
		"enum of many numbers":     shared(`{"enum":[` + list(60_000, `1`) + `]}`),
		"enum of large choices":    shared(`{"enum":[` + list(300, `"%d`+strings.Repeat("x", 350)+`"`) + `]}`),
		"items of an enum":         shared(`{"type":"array","items":{"enum":[` + list(15_000, `"%d"`) + `]}}`),
		"union":                    shared(`{"anyOf":[` + list(7_000, `{"const":%d}`) + `]}`),
		"union of nulls":           shared(`{"anyOf":[` + list(7_000, `{"type":"null"}`) + `]}`),
		"union of types":           shared(`{"anyOf":[` + list(5_000, `{"type":"string"}`) + `]}`),
		"default":                  shared(`{"default":[` + list(20_000, `%d`) + `]}`),
		"default that nests":       shared(`{"default":` + nest(9_000, "[", "1", "]") + `}`),
		"default of a group":       shared(`{"type":"object","properties":{"a":{}},"default":{"a":[` + list(20_000, `%d`) + `]}}`),
		"numbers":                  shared(`{"type":"integer","minimum":` + strings.Repeat("1", 50<<10) + `,"maxLength":` + strings.Repeat("1", 50<<10) + `}`),
		"types":                    shared(`{"type":[` + list(10_000, `"t%d"`) + `]}`),
		"long type":                shared(`{"type":"` + long + `"}`),
		"long pattern":             shared(`{"type":"string","pattern":"` + long + `"}`),
		"long description":         shared(`{"type":"string","description":"` + strings.Repeat(`\u0001`, 18<<10) + `"}`),
		"long name":                shared(`{"type":"object","properties":{"` + strings.ToUpper(long) + `":{}}}`),
		"long names in names":      `{"properties":{"` + long + `":{"properties":{"b":{"$ref":"#"},"c":{"$ref":"#"},"d":{"$ref":"#"}}}}}`,
		"long reference":           `{"properties":{` + list(90, `"p%d":{"$ref":"#/x"}`) + `},"x":{"$ref":"#` + strings.Repeat("/%41", 25<<10) + `"}}`,
		"required":                 shared(`{"type":"object","properties":{"a":{},"b":{},"c":{}},"required":[` + list(12_000, `"%d"`) + `]}`),
		"properties":               `{"properties":{` + list(10_000, `"p%d":{}`) + `}}`,
		"properties that nest":     nest(4_000, `{"type":"object","properties":{"a":`, `{}`, `}}`),
		"properties of properties": `{"properties":{"a":{"$ref":"#"},"b":{"$ref":"#"},"c":{"$ref":"#"}}}`,
		"lists":                    `{"properties":{"a":{"x":[` + list(40_000, `[]`) + `]}}}`,
		"lists that nest":          `{"properties":{"a":{"x":[` + list(6, nest(9_000, "[", "", "]")) + `]}}}`,
		"escaped names":            `{"properties":{` + list(9_000, `"\u0001%d":1`) + `}}`,
		"large lists":              `{"properties":{"a":{"x":[` + list(400_000, `[]`) + `]}}}`,
		"large text":               `{"properties":{"a":{"description":"` + strings.Repeat("x", 7<<20) + `"}}}`,
		"large name":               `{"properties":{"` + strings.Repeat("x", 3<<20) + `":{"properties":{"a":{},"b":{},"c":{}}}}}`,
	}
}

// showTool makes the parts of a tool's page that come from its input schema.
func showTool(ctx context.Context, schema string) {
	raw := json.RawMessage(schema)
	document := newDocument(raw)
	form := document.newForm(ctx)
	values := form.defaults()
	form.toView(ctx, values, nil)
	form.readArguments(values)
	document.listParams(ctx, true)
	shell.IndentJSON(ctx, raw, shell.MaxPageJSON)
}

func TestToolPage_SaysThatParametersAreNotShown(t *testing.T) {
	t.Parallel()
	for name, schema := range map[string]string{
		"too long":        `{"properties":{"a":{"description":"` + strings.Repeat("x", maxPageSchema) + `"}}}`,
		"too many values": `{"properties":{"a":{"x":[` + strings.Repeat("1,", maxSchemaValues) + `1]},"b":{}}}`,
	} {
		document := newDocument(json.RawMessage(schema))
		list := document.listParams(t.Context(), true)
		if len(list) == 0 || list[len(list)-1].Description != "Schema too large to show all parameters." {
			t.Errorf("%s: %v", name, list)
		}
		if document.newForm(t.Context()).jsonOnlyReason == "" {
			t.Errorf("%s has a form", name)
		}
	}
}

// TestToolPage_HostileSchemasAllocateLittle is not parallel: it measures the allocations of the process.
func TestToolPage_HostileSchemasAllocateLittle(t *testing.T) {
	for name, schema := range hostileSchemas() {
		if !json.Valid([]byte(schema)) {
			t.Errorf("%s is no JSON", name)
		}
		if _, allocated := measurePage(t.Context(), schema); allocated > maxPageAlloc {
			t.Errorf("%s: the page allocates %d KiB", name, allocated>>10)
		}
	}
}

// measurePage returns the CPU time of the process for a page, and the bytes that it allocates.
func measurePage(ctx context.Context, schema string) (time.Duration, uint64) {
	usage := func() (time.Duration, uint64) {
		var used syscall.Rusage
		var memory runtime.MemStats
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
			panic(err)
		}
		runtime.ReadMemStats(&memory)
		return time.Duration(used.Utime.Nano() + used.Stime.Nano()), memory.TotalAlloc
	}
	cpu, allocated := usage()
	showTool(ctx, schema)
	cpuAfter, allocatedAfter := usage()
	return cpuAfter - cpu, allocatedAfter - allocated
}

// BenchmarkToolPage_HostileSchemas prints the cost of a page. The minimum of three runs counts. It fails above
// 50 ms of CPU.
func BenchmarkToolPage_HostileSchemas(b *testing.B) {
	all := hostileSchemas()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				var cpus []time.Duration
				var bytes uint64
				for range 3 {
					runtime.GC()
					cpu, allocated := measurePage(b.Context(), all[name])
					cpus, bytes = append(cpus, cpu), allocated
				}
				b.ReportMetric(float64(slices.Min(cpus).Microseconds())/1000, "page-ms")
				b.ReportMetric(float64(bytes>>10), "page-KiB")
				if slices.Min(cpus) > maxPageCPU {
					b.Errorf("%v of CPU", slices.Min(cpus))
				}
			}
		})
	}
}
