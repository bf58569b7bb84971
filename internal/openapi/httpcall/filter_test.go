package httpcall_test

import (
	"context"
	"runtime"
	"strings"
	"testing"

	"patchbay/internal/fault"
	"patchbay/internal/openapi/httpcall"
)

func TestFilter_Outputs(t *testing.T) {
	t.Parallel()
	input := `{"items":[{"id":2,"name":"b","tags":["x","y"]},{"id":1,"name":"a","tags":[]}],"n":12345678901234567890}`
	for text, want := range map[string]string{
		`.items|map({id,name})`:                                                `[{"id":2,"name":"b"},{"id":1,"name":"a"}]`,
		`.items[].name`:                                                        "\"b\"\n\"a\"",
		`.items|sort_by(.id)|.[0].name`:                                        `"a"`,
		`[.items[]|select(.id>1 and .name!="z").id*2]|add`:                     `4`,
		`.items[0]|with_entries(.key|=ascii_upcase)|keys`:                      `["ID","NAME","TAGS"]`,
		`"\(.items|length) items, \(.n)"`:                                      `"2 items, 12345678901234567890"`,
		`.items|map(.tags|join(","))|@csv`:                                     `"\"x,y\",\"\""`,
		`reduce .items[] as $i (0; . + $i.id)`:                                 `3`,
		`.items[1:]|length`:                                                    `1`,
		`.none // "d"`:                                                         `"d"`,
		`.items|group_by(.name)|map(length)`:                                   `[1,1]`,
		`del(.items)|tojson`:                                                   `"{\"n\":12345678901234567890}"`,
		`if .n then "y" else "n" end`:                                          `"y"`,
		`[.items[]|.name|test("^a")]`:                                          `[false,true]`,
		`empty`:                                                                ``,
		`.items[0]|.name |= ascii_upcase|.tags[] |= .+"!"`:                     `{"id":2,"name":"B","tags":["x!","y!"]}`,
		`.items|(.[]|select(.id==1).name) = "c"|map(.name)`:                    `["b","c"]`,
		`del(.items[0].tags,.items[1],.n)`:                                     `{"items":[{"id":2,"name":"b"}]}`,
		`[..|strings]`:                                                         `["b","x","y","a"]`,
		`.items[0].name[0:1], .items[5], (.items|first.id)`:                    "\"b\"\nnull\n2",
		`[9223372036854775807+1, 7/2, 7%4, 2*3-1, -.items[0].id]`:              `[9223372036854776000,3.5,3,5,-2]`,
		`"{\"a\":[1.50]}"|fromjson|.a[0], ("12"|tonumber)`:                     "1.50\n12",
		`[.items[]|.tags[0]?|test("^(x|y){1,3}$")?]`:                           `[true]`,
		`[1,"a",null,[1],{}]|sort == [null,1,"a",[1],{}]`:                      `true`,
		`[limit(2;.items[].id)], [range(0;10;4)], any(.items[];.id>1)`:         "[2,1]\n[0,4,8]\ntrue",
		`.items[0]|to_entries|from_entries|map_values(type)`:                   `{"id":"number","name":"string","tags":"array"}`,
		`"a,b"|split(",")|(., unique_by(length))`:                              "[\"a\",\"b\"]\n[\"a\"]",
		`["\(1,2)-\(3,4)"], [(1,2)+(10,20)]`:                                   "[\"1-3\",\"2-3\",\"1-4\",\"2-4\"]\n[11,12,21,22]",
		`@uri "?q=\("a b")&n=\(1)", {"k\(1)x":2,"y":3}, "\("a")", "\(1)"[0:1]`: "\"?q=a%20b&n=1\"\n{\"k1x\":2,\"y\":3}\n\"a\"\n\"1\"",
		`1234567890*1234567890`:                                                `1524157875019052100`,
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
		`$__prog_args`, `splits("a")`, `ltrimstr(env)`, `.[500000000] = 1`, `.[0] = 1`, `.a[1:2] = []`, `.[5] |= 1`, `nth(1)`, `nth(100000000) = 1`, `first = 1`, `last(.[]) |= 1`, `.. |= 1`, `(.a,.b) |= 1`, `limit(1;.a) = 1`,
		`(.a|.[3]) = 1`, `.a[3].b = 1`, `if . then .a else .b end = 1`, `(. as $x|.a) = 1`, `.a //= 1`, `getpath(["a",100000000]) = 1`, `del(..)`, `del(.[1:2])`, `del(first)`, `select(.[9] = 1)`, `implode`, `explode`, `combinations`, `recurse(.[])`,
		`@html`, `@sh`, `test(.a)`, `test("(a|b|ab?c?){1,300}x")`, `test("a" + "b")`, `test("\(.)")`, `test(["a","g"])`, `test("(")`, `test("a";"g")`, `[match("a")]`, `_test(0)`, `.[.n:]`, `.[:.n]`, `.a[range(9):]`, `."a\(.n)"`, `{"a\(.n)"}`, `_fromjson`, `_op_assign(.[9]; 1)`,
		"." + strings.Repeat("9", 65), strings.Repeat(".a", 50) + "=1", "(" + strings.Repeat(".a|", 50) + ".b)=1", `"` + strings.Repeat(`\(.)`, 41) + `"`, `while(true;.)`, `until(false;.)`,
	} {
		if _, err := httpcall.CompileFilter(text); err == nil {
			t.Errorf("%.60s is compiled", text)
		}
	}
}

// Numbers of the answer and of calculations must not grow: gojq calculates with all digits.
func TestFilter_LongNumbersAreFloats(t *testing.T) {
	body := `{"a":` + strings.Repeat("9", 1<<20) + `,"b":-` + strings.Repeat("7", 300) + `,"s":"` + strings.Repeat("8", 1<<20) + `","j":"[` + strings.Repeat("6", 1<<20) + `]"}`
	for _, text := range []string{`.a*.b`, `.a*.a*.a`, `.a-.b`, `.a%.b`, `.a/.b`, `-.a`, `.a`, `[.a,.b]|add`, `[.a,.b]|sort`, `.a|tostring`, `[range(.a;.a)]`, `.s|tonumber? // 0`, `.j|fromjson`, `reduce range(24) as $i (10; .*.)`, `reduce range(1000) as $i (1; .+.)`, `reduce range(1000) as $i (3; [.,.]|add)`, `reduce range(1000) as $i (-1; .-(-.))`} {
		f, err := httpcall.CompileFilter(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		out, err := f.Apply(context.Background(), []byte(body))
		runtime.ReadMemStats(&after)
		if allocated := (after.TotalAlloc - before.TotalAlloc) >> 20; err != nil || len(out) > 1000 || allocated > 64 {
			t.Errorf("%s: %d bytes, %d MiB are allocated, %v", text, len(out), allocated, err)
		}
	}
}

func TestFilter_RefusesAnswersOfManyValues(t *testing.T) {
	t.Parallel()
	f, err := httpcall.CompileFilter(`1`)
	if err != nil {
		t.Fatal(err)
	}
	for _, body := range []string{strings.Repeat("[", 600_000), "[" + strings.Repeat(`{"":0},`, 300_000) + "0]", "[" + strings.Repeat("1,", 600_000) + "1]"} {
		if _, err := f.Apply(context.Background(), []byte(body)); fault.As(err).Kind != fault.TooLarge {
			t.Errorf("%.20s: %v", body, err)
		}
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
