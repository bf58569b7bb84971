package httpcall_test

import (
	"context"
	"runtime"
	"strings"
	"testing"

	"patchbay/internal/openapi/httpcall"
)

func TestFilter_Outputs(t *testing.T) {
	t.Parallel()
	input := `{"items":[{"id":2,"name":"b","tags":["x","y"]},{"id":1,"name":"a","tags":[]}],"n":12345678901234567890}`
	for text, want := range map[string]string{
		`.items|map({id,name})`:                            `[{"id":2,"name":"b"},{"id":1,"name":"a"}]`,
		`.items[].name`:                                    "\"b\"\n\"a\"",
		`.items|sort_by(.id)|.[0].name`:                    `"a"`,
		`[.items[]|select(.id>1 and .name!="z").id*2]|add`: `4`,
		`.items[0]|with_entries(.key|=ascii_upcase)|keys`:  `["ID","NAME","TAGS"]`,
		`"\(.items|length) items, \(.n)"`:                  `"2 items, 12345678901234567890"`,
		`.items|map(.tags|join(","))|@csv`:                 `"\"x,y\",\"\""`,
		`reduce .items[] as $i (0; . + $i.id)`:             `3`,
		`.items[1:]|length`:                                `1`,
		`.none // "d"`:                                     `"d"`,
		`.items|group_by(.name)|map(length)`:               `[1,1]`,
		`del(.items)|tojson`:                               `"{\"n\":12345678901234567890}"`,
		`if .n then "y" else "n" end`:                      `"y"`,
		`[.items[]|.name|test("^a")]`:                      `[false,true]`,
		`empty`:                                            ``,
	} {
		f, err := httpcall.CompileFilter(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		for range 2 { // again with the compiled program
			if have, err := f.Apply(context.Background(), []byte(input)); err != nil || string(have) != want {
				t.Errorf("%s: %s, want %s (%v)", text, have, want, err)
			}
		}
	}
}

func TestFilter_RefusesWhatHasNoBound(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`def f: f; f`, `env`, `$ENV`, `$ENV.PATH`, `input`, `inputs`, `import "a" as a; .`, `include "a"; .`, `repeat(1)`, `.a[.b]`, `.a += 1`, `getpath(["a"])`, `gsub("a";"b")`,
		`[scan(".")]`, `{$ENV}`, `{$__loc__}`, `debug`, `halt`, `input_filename`, `_charge`, `. as [$a] | $a`, `limit(1; env)`, `@sh "\(env)"`, `if env then 1 else 2 end`,
		`try env catch 1`, `reduce env as $x (0;1)`, `foreach env as $x (0;1)`, `label $f | env`, `.[env:]`, `{(env):1}`, `."\(env)"`, `-env`, strings.Repeat("[", 3000), `.[`, strings.Repeat(" ", 5000), `now`,
		`$__prog_args`, `splits("a")`, `ltrimstr(env)`, `while(true;.)`, `until(false;.)`,
	} {
		if _, err := httpcall.CompileFilter(text); err == nil {
			t.Errorf("%.60s is compiled", text)
		}
	}
}

func TestFilter_StopsWithinItsBounds(t *testing.T) {
	big := `{"items":[` + strings.TrimSuffix(strings.Repeat(`{"id":1,"name":"abc"},`, 5000), ",") + `],"big":"` + strings.Repeat("x", 1<<20) + `"}`
	for _, text := range []string{
		`reduce range(60) as $i (.; [.,.])|tojson`, `reduce range(60) as $i (.; [.,.])`, `reduce range(60) as $i (.big; .+.)|length`, `.big*100`,
		`reduce range(60) as $i (0; [.,.]) | . == (reduce range(60) as $i (0; [.,.]))`, `reduce range(60) as $i (.big; "\(.)\(.)")`, `[.items[] as $x|.items[] as $y|$x]|length`,
		`[range(1000000000)]`, `.items as $i|[$i[]|$i]|tojson`, `{a:.items[],b:.items[]}`, `[recurse([.,.])]`, `[.items[].name + .items[].name]`, `[range(100)|. as $n|[range(100000)]]`,
		`reduce range(60) as $i (.; {a:.,b:.})|@json`, `[.items[]|.name]|reduce range(30) as $i (.; .+.)|unique`, `reduce range(20000) as $i (.; [.])|tojson`,
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

// FuzzFilter compiles and runs filters. A panic of the library would end more than the call.
func FuzzFilter(f *testing.F) {
	for _, text := range []string{`.a|map({id})`, `reduce .[] as $x (0; . + $x)`, `[limit(3; .[])]`, `"\(.a)"`, `.a[1:2]`, `try error("x") catch .`, `-.a`, `..|numbers`, `@csv`, `{a:.b,(.c):1}`, `label $x | break $x`} {
		f.Add(text, `{"a":[1,2,{"id":3}],"b":"x","c":"d"}`)
	}
	f.Fuzz(func(t *testing.T, text, input string) {
		filter, err := httpcall.CompileFilter(text)
		if err != nil || len(input) > 1<<12 {
			return
		}
		if _, err := filter.Apply(context.Background(), []byte(input)); err != nil && strings.Contains(err.Error(), "panic") {
			t.Error(err)
		}
	})
}
