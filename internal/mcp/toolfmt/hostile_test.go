package toolfmt_test

import (
	"encoding/json"
	"maps"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"patchbay/internal/mcp/toolfmt"
)

// Bounds of one conversion.
const (
	maxCPU   = 50 * time.Millisecond
	maxAlloc = 16 << 20
)

// costlySchemas are built to be expensive. Some are just below the bounds of a schema, some above.
func costlySchemas() map[string]string {
	all := hostileSchemas()
	maps.Copy(all, map[string]string{
		"pattern of folded class":   object(`"a":{"type":"string","pattern":"(?i)[` + strings.Repeat(`é-\\x{1fff0}`, 3_000) + `]"}`),
		"patterns of folded class":  object(list(4_000, `"a%d":{"type":"string","pattern":"(?i)[%dé-\\x{1fff0}ß-\\x{1fff0}]"}`)),
		"patterns of wide classes":  object(list(3_000, `"a%d":{"type":"string","pattern":"`+strings.Repeat(`\\pL\\PL`, 30)+`"}`)),
		"patterns of octal ranges":  object(list(1_500, `"a%d":{"type":"string","pattern":"(?i)[%d`+strings.Repeat(`!-\\777`, 80)+`]"}`)),
		"patterns of repeats":       object(list(4_000, `"a%d":{"type":"string","pattern":"((a{0,30}){0,30}%d){0,1}"}`)),
		"pattern of many folds":     object(list(20, `"a%d":{"type":"string","pattern":"(?i)`+strings.Repeat("é", 200)+`"}`)),
		"union of small":            `{"anyOf":[` + list(3_000, `{"properties":{"a":{"x":"%d"}}}`) + `]}`,
		"union of nested":           `{"anyOf":[` + levels(32) + `],"d":` + nest(300, `{"properties":{"a":`, `{}`, `},"x":"`+strings.Repeat("x", 300)+`"}`) + `}`,
		"union of equal":            `{"anyOf":[` + list(300, `{"properties":{"a":{"x":[`+list(90, `1`)+`],"y":%d}}}`) + `]}`,
		"union without end":         nestNumbered(2_000, `{"properties":{"p%d":{}},"anyOf":[`, `{}`, `]}`),
		"union of levels":           `{"anyOf":[` + levels(300) + `],"d":` + nestNumbered(300, `{"properties":{"p%d":{},"a":`, `{"x":"`+strings.Repeat("x", 300_000)+`"}`, `}}`) + `}`,
		"unions in unions":          object(`"a":` + nest(4_000, `{"anyOf":[{"type":"string","format":"date-time"},{"type":"number"},`, `{"type":"boolean"}`, `]}`)),
		"unions of texts":           object(`"a":` + nestNumbered(4_000, `{"anyOf":[{"type":"string","description":"%d"},`, `{"type":"boolean"}`, `]}`)),
		"unions with texts":         object(`"a":` + nestNumbered(3_000, `{"description":"%d`+strings.Repeat("x", 200)+`","anyOf":[{"type":"number"},`, `{"type":"boolean"}`, `]}`)),
		"unions of enums":           object(`"a":` + nestNumbered(4_000, `{"anyOf":[{"enum":["%d"]},`, `{"enum":["x"]}`, `]}`)),
		"unions of nulls":           object(shared(`{"anyOf":[{"enum":[` + list(19_000, `null`) + `]},{}]}`)),
		"anyOf beside many":         object(`"a":{"anyOf":[` + list(4_000, `{}`) + `],` + list(22_000, `"x%d":1`) + `,"minimum":1}`),
		"anyOf at the root":         `{"anyOf":[` + list(4_000, `{"required":["a"]}`) + `],"properties":{` + list(15_000, `"x%d":{}`) + `}}`,
		"allOf beside many":         object(`"a":{"allOf":[` + list(4_000, `{}`) + `],` + list(22_000, `"x%d":1`) + `}`),
		"allOf of many":             object(`"a":{"allOf":[` + list(400, `{"properties":{"%d":{},`+list(20, `"x%d":{}`)+`}}`) + `]}`),
		"allOf in allOf":            object(`"a":` + nest(4_000, `{"properties":{"a":{}},"allOf":[`, `{}`, `]}`)),
		"allOf at the root":         `{"allOf":[` + list(4_000, `{}`) + `],"properties":{` + list(20_000, `"x%d":{}`) + `}}`,
		"references":                object(list(7_000, `"a%d":{"$ref":"#/$defs/x%d"}`) + `},"$defs":{` + list(15_000, `"x%d":{}`)),
		"references to many":        object(shared(`{` + list(20_000, `"x%d":1`) + `}`)),
		"references beside many":    object(list(4_000, `"a%d":{"$ref":"#/$defs/x0"}`) + `},"$defs":{` + list(14, `"x%d":{"y%d":1,"$ref":"#/$defs/x%n"}`) + `,"x14":{` + list(20_000, `"x%d":1`) + `}`),
		"references in anyOf":       object(`"a":{"$ref":"#/$defs/0"}},"$defs":{` + list(7_000, `"%d":{"anyOf":[{"$ref":"#/$defs/%n"}]}`) + `,"7000":{}`),
		"references in allOf":       object(`"a":{"$ref":"#/$defs/0"}},"$defs":{` + list(7_000, `"%d":{"allOf":[{"$ref":"#/$defs/%n"}]}`) + `,"7000":{}`),
		"references that fork":      object(`"a":{"$ref":"#/$defs/0"}},"$defs":{` + list(60, `"%d":{"anyOf":[{"$ref":"#/$defs/%n"},{"$ref":"#/$defs/%n"}]}`) + `,"60":{}`),
		"references that fork, all": object(`"a":{"$ref":"#/$defs/0"}},"$defs":{` + list(60, `"%d":{"allOf":[{"$ref":"#/$defs/%n"},{"$ref":"#/$defs/%n"}]}`) + `,"60":{}`),
		"references at the root":    `{"$ref":"#/$defs/0","$defs":{` + list(60, `"%d":{"anyOf":[{"$ref":"#/$defs/%n"},{"$ref":"#/$defs/%n"}]}`) + `,"60":{"properties":{"a":{},"b":{}}}}}`,
		"reference of many steps":   object(shared(`{"$ref":"#` + strings.Repeat("/~0", 100_000) + `"}`)),
		"references of 4 KiB":       object(list(200, `"a%d":{"$ref":"#%d`+strings.Repeat("/~0", 1_300)+`"}`)),
		"reference far down":        object(shared(`{"$ref":"#` + strings.Repeat("/properties/a", 300) + `"}`)),
		"wide schemas":              object(list(14, `"a%d":{"type":["string","number","boolean","array","object"],`+list(2_000, `"x%d":1`)+`}`)),
		"types":                     object(list(3_500, `"a%d":{"type":["string","number","boolean","array","object","null"]}`)),
		"types that are listed":     object(shared(`{"type":[` + list(20_000, `"string"`) + `]}`)),
		"enum":                      object(`"a":{"enum":[` + list(29_000, `"%d"`) + `]}`),
		"enums":                     object(shared(`{"enum":[` + list(400, `"%d"`) + `]}`)),
		"enums of many types":       object(shared(`{"enum":[{},1,true,"",` + list(20_000, `%d`) + `]}`)),
		"enums of large values":     object(shared(`{"enum":[{},[` + list(20_000, `%d`) + `]]}`)),
		"required":                  object(shared(`{"properties":{"a":{}},"required":[` + list(20_000, `"%d"`) + `]}`)),
		"defaults":                  object(shared(`{"default":[` + list(20_000, `%d`) + `]}`)),
		"descriptions":              object(shared(`{"description":"` + strings.Repeat(`\u00e9`, 80_000) + `"}`)),
		"formats":                   object(shared(`{"type":"string","format":"` + strings.Repeat(`\u00e9`, 80_000) + `"}`)),
		"numbers":                   object(shared(`{"type":"number","minimum":` + strings.Repeat(`1`, 500_000) + `}`)),
		"counts":                    object(shared(`{"type":"string","minLength":` + strings.Repeat(`1`, 500_000) + `}`)),
		"properties":                object(list(29_000, `"%d":{}`)),
		"properties that nest":      nest(4_000, `{"properties":{"a":`, `{}`, `}}`),
		"escaped names":             object(list(29_000, `"\n\u0001é%d":{}`)),
		"refused names":             object(list(29_000, `"\"%d":{}`)),
		"refused names, required":   `{"properties":{` + list(14_000, `"\"%d":{}`) + `},"required":[` + list(14_000, `"\"%d"`) + `]}`,
		"items":                     object(`"a":` + nest(4_000, `{"items":`, `{}`, `}`)),
		"tuples":                    object(`"a":{"prefixItems":[` + list(5_500, `{"type":"array","prefixItems":[{},{}]}`) + `]}`),
		"arrays":                    object(list(14_000, `"%d":{"type":"array"}`)),
		"lists":                     object(`"a":{"x":[` + list(29_000, `[]`) + `]}`),
		"too many lists":            object(`"a":{"x":[` + list(300_000, `[]`) + `]}`),
		"too many numbers":          object(`"a":{"x":[` + list(450_000, `1`) + `]}`),
		"too long":                  object(`"a":{"description":"` + strings.Repeat("x", 7<<20) + `"}`),
		"long":                      object(`"a":{"description":"` + strings.Repeat("x", 1_000_000) + `"}`),
		"too many definitions":      object(`"a":{"$ref":"#/$defs/x1"}},"$defs":{` + list(100_000, `"x%d":{"type":"a"}`)),
	})
	return all
}

func object(properties string) string { return `{"type":"object","properties":{` + properties + `}}` }

// shared returns properties that refer to one schema, and that schema.
func shared(schema string) string {
	return list(4_000, `"a%d":{"$ref":"#/$defs/x"}`) + `},"$defs":{"x":` + schema
}

// levels returns n references, each to a level of a schema that nests in its property a.
func levels(n int) string {
	all := make([]string, n)
	for i := range all {
		all[i] = `{"$ref":"#/d` + strings.Repeat("/properties/a", i) + `"}`
	}
	return strings.Join(all, ",")
}

// list returns n texts with commas between them. In them %d is the number of the text, and %n the next one.
func list(n int, text string) string {
	all := make([]string, n)
	for i := range all {
		all[i] = strings.ReplaceAll(strings.ReplaceAll(text, "%d", strconv.Itoa(i)), "%n", strconv.Itoa(i+1))
	}
	return strings.Join(all, ",")
}

func nest(n int, before, inside, after string) string {
	return strings.Repeat(before, n) + inside + strings.Repeat(after, n)
}

// nestNumbered is nest, in which %d is the number of the level.
func nestNumbered(n int, before, inside, after string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.ReplaceAll(before, "%d", strconv.Itoa(i)))
	}
	return b.String() + inside + strings.Repeat(after, n)
}

func TestDefinitions_TooLargeSchemaIsNotListed(t *testing.T) {
	t.Parallel()
	for name, schema := range map[string]string{
		"too long":        object(`"a":{"description":"` + strings.Repeat("x", 1<<20) + `"}`),
		"too many values": object(`"a":{"enum":[` + list(30_000, `1`) + `]}`),
		"too long when flattened": `{"anyOf":[` + levels(10) + `],"d":` +
			nestNumbered(10, `{"properties":{"p%d":{},"a":`, `{"x":"`+strings.Repeat("x", 300_000)+`"}`, `}}`) + `}`,
	} {
		for _, format := range formats[1:3] {
			raw := toolfmt.Definitions(format, []toolfmt.Tool{toolWithSchema(schema)})[0]
			for _, part := range []string{`"properties":{}`, "Parameters are not listed: their schema is too large."} {
				if !strings.Contains(string(raw), part) {
					t.Errorf("%s for %s: %.300s", name, format, raw)
				}
			}
		}
	}
	raw := toolfmt.Definitions(toolfmt.Google, []toolfmt.Tool{toolWithSchema(object(`"a":{"description":"` + strings.Repeat("x", 1<<20) + `"}`))})[0]
	if !strings.Contains(string(raw), "too large") || strings.Contains(string(raw), "parameters\"") {
		t.Errorf("google: %.300s", raw)
	}
}

func TestDefinitions_ExpensivePatternIsLeftOut(t *testing.T) {
	t.Parallel()
	for pattern, want := range map[string]bool{
		`^[a-z]+$`: true, `^\\pL+$`: true, `(?i)^a$`: true, `(`: false,
		`(?i)[` + strings.Repeat(`é-\\x{1fff0}`, 10) + `]`: false,
		strings.Repeat("a", 501):                           false,
	} {
		raw := toolfmt.Definitions(toolfmt.Google, []toolfmt.Tool{toolWithSchema(object(`"a":{"type":"string","pattern":"` + pattern + `"}`))})[0]
		if strings.Contains(string(raw), `"pattern"`) != want {
			t.Errorf("%s: %.300s", pattern, raw)
		}
	}
}

// TestDefinitions_CostlySchemasAllocateLittle is not parallel: it measures the allocations of the process.
func TestDefinitions_CostlySchemasAllocateLittle(t *testing.T) {
	for name, schema := range costlySchemas() {
		if !json.Valid([]byte(schema)) && name != "invalid UTF-8" {
			t.Errorf("%s is no JSON", name)
		}
		for _, format := range formats[1:] {
			_, allocated := measure(schema, format)
			if allocated > maxAlloc {
				t.Errorf("%s for %s allocates %d KiB", name, format, allocated>>10)
			}
		}
	}
}

// measure returns the CPU time of a conversion, with garbage collection, and the bytes that it allocates.
func measure(schema string, format toolfmt.Format) (time.Duration, uint64) {
	tools := []toolfmt.Tool{toolWithSchema(schema)}
	cpu, allocated := usage()
	toolfmt.Definitions(format, tools)
	cpuAfter, allocatedAfter := usage()
	return cpuAfter - cpu, allocatedAfter - allocated
}

// usage returns the CPU time of the process and the bytes that it has allocated.
func usage() (time.Duration, uint64) {
	var used syscall.Rusage
	var memory runtime.MemStats
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		panic(err)
	}
	runtime.ReadMemStats(&memory)
	return time.Duration(used.Utime.Nano() + used.Stime.Nano()), memory.TotalAlloc
}

// BenchmarkDefinitions_CostlySchemas prints the cost of each schema. The minimum of three runs counts. It fails
// above 50 ms of CPU.
func BenchmarkDefinitions_CostlySchemas(b *testing.B) {
	all := costlySchemas()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				for _, format := range formats[1:] {
					var cpus []time.Duration
					var bytes uint64
					for range 3 {
						runtime.GC()
						cpu, allocated := measure(all[name], format)
						cpus, bytes = append(cpus, cpu), allocated
					}
					b.ReportMetric(float64(slices.Min(cpus).Microseconds())/1000, string(format)+"-ms")
					b.ReportMetric(float64(bytes>>10), string(format)+"-KiB")
					if slices.Min(cpus) > maxCPU {
						b.Errorf("%s: %v of CPU", format, slices.Min(cpus))
					}
				}
			}
		})
	}
}
