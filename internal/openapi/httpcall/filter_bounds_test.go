//go:build !race

// The race detector finds nothing in these computations and takes ten times as long.

package httpcall_test

import (
	"context"
	"patchbay/internal/openapi/httpcall"
	"runtime"
	"strings"
	"testing"
)

func TestFilter_StopsWithinItsBounds(t *testing.T) {
	big := `{"items":[` + strings.TrimSuffix(strings.Repeat(`{"id":1,"name":"abc"},`, 5000), ",") + `],"big":"` + strings.Repeat("x", 1<<20) + `"}`
	for _, text := range []string{
		`reduce range(60) as $i (.; [.,.])|tojson`, `reduce range(60) as $i (.; [.,.])`, `reduce range(60) as $i (.big; .+.)|length`, `.big*100`,
		`reduce range(60) as $i (0; [.,.]) | . == (reduce range(60) as $i (0; [.,.]))`, `reduce range(60) as $i (.big; "\(.)\(.)")`, `[.items[] as $x|.items[] as $y|$x]|length`,
		`[range(1000000000)]`, `.items as $i|[$i[]|$i]|tojson`, `{a:.items[],b:.items[]}`, `[.items[].name + .items[].name]`, `[range(100)|. as $n|[range(100000)]]`,
		`reduce range(60) as $i (.; {a:.,b:.})|@json`, `[.items[]|.name]|reduce range(30) as $i (.; .+.)|unique`, `reduce range(20000) as $i (.; [.])|tojson`,
		`. as $x|` + strings.Repeat(`.items[] as $i|$x|`, 90) + `1`, `.items as $i|[range(100000)|first($i[])]`, `.items as $i|[range(100000)|first($i|map(1)|.[])]`, `.items as $i|[range(100000)|$i|keys|.[0]]`, `. as $x|[range(100000)|first($x|..|numbers)]`,
		`.big as $s|[range(100000)|$s|length]`, `.big as $s|[range(100000)|$s[1:2]]`, `.big as $s|[range(100000)|$s|.[0]]`, `.big as $s|[range(100000)|$s|startswith($s)]`, `.big as $s|[range(1000)|$s|test("^(a|x){1,20}y")]`,
		`.big|test("` + strings.Repeat("[ax]*", 35) + `y")`, `[range(1000000)|null|.a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p = 1]`, `.n = range(1000000)`, `reduce range(100000) as $i (.; .n = 1)`, `. as $x|[range(1000)|$x]|sort`, `["\(range(100000))\(.big)"]`, `[@uri "\(range(100000))\(.big)"]`, `[{"\(range(100000))\(.big)":1}]`, `["\(.big)x\(range(100000))"]`, `[range(100000) as $i|.big+"x"]`, `[(range(100000)|tostring)+.big]`,
		`reduce range(60) as $i (0; [.,.]) as $s|["a","b"]|join($s)`, `error(reduce range(60) as $i (0; [.,.]))`, `[reduce range(60) as $i (0; [.,.])|tojson?]`, `try tojson catch . as $x|[range(100)|$x|tojson?]`, `reduce range(60) as $i (0; [.,.])|{a:.}|.b = 1`, `[range(100000)|"[[],[],[],[],[]]"|fromjson]`,
	} {
		f, err := httpcall.CompileFilter(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		out, err := f.Apply(context.Background(), []byte(big))
		runtime.ReadMemStats(&after)
		if err == nil || after.TotalAlloc-before.TotalAlloc > 512<<20 {
			t.Errorf("%s: %d bytes, %d MiB are allocated, %v", text, len(out), (after.TotalAlloc-before.TotalAlloc)>>20, err)
		}
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	f, err := httpcall.CompileFilter(`[range(1000)]`)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Apply(ended, []byte(`1`)); err == nil {
		t.Error("a filter runs on after its context")
	}
}
