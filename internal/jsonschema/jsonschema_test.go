package jsonschema

import (
	"slices"
	"strings"
	"testing"
)

func TestDecode_KeepsOrderAndSpelling(t *testing.T) {
	t.Parallel()
	root, whole := Decode([]byte(` {"b" : 1.50, "a":[true,null,-1e2 ,{}], "b":"\u0041"} `), Limits{})
	if want := `{"b":"\u0041","a":[true,null,-1e2,{}]}`; !whole || string(root.AppendTo(nil)) != want {
		t.Errorf("%s, want %s", root.AppendTo(nil), want)
	}
	if root.GetText("b") != "A" || root.Get("a").Raw != `[true,null,-1e2 ,{}]` || root.Get("none") != nil {
		t.Errorf("%+v", root)
	}
	var kinds []Kind
	for _, item := range root.GetItems("a") {
		kinds = append(kinds, item.Kind)
	}
	if !slices.Equal(kinds, []Kind{True, Null, Number, Object}) {
		t.Errorf("%c", kinds)
	}
}

func TestDecode_Limits(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		document string
		limits   Limits
		want     string // empty: no root
		whole    bool
	}{
		"invalid":          {`{"a":}`, Limits{}, "", true},
		"too long":         {`{"a":1}`, Limits{Bytes: 6}, "", false},
		"all values":       {`{"a":[1,2]}`, Limits{Values: 4}, `{"a":[1,2]}`, true},
		"too many values":  {`{"a":[1,2],"b":"]"}`, Limits{Values: 3}, `{"a":[1]}`, false},
		"one level":        {`{"a":{"b":"}"},"c":[[1]]}`, Limits{Depth: 1}, `{"a":{},"c":[]}`, true},
		"duplicates":       {`{"a":1,"a":2}`, Limits{KeepDuplicates: true}, `{"a":1,"a":2}`, true},
		"no UTF-8":         {"\"\xff\"", Limits{}, "\"\uFFFD\"", true},
		"many members":     {`{` + strings.Repeat(`"a":1,"b":2,`, 30) + `"b":3}`, Limits{}, `{"a":1,"b":3}`, true},
		"scalar":           {" 1 ", Limits{}, "1", true},
		"end of a literal": {`[false]`, Limits{Values: 1}, `[]`, false},
	} {
		root, whole := Decode([]byte(tc.document), tc.limits)
		var have string
		if root != nil {
			have = string(root.AppendTo(nil))
		}
		if have != tc.want || whole != tc.whole {
			t.Errorf("%s: %s, whole: %v", name, have, whole)
		}
	}
}

func TestResolve_Targets(t *testing.T) {
	t.Parallel()
	wide := strings.Repeat(`"x":{},`, maxScanned) + `"y/~":7`
	for i := range maxScanned {
		wide = strings.Replace(wide, `"x"`, `"`+string(rune('a'+i))+`"`, 1)
	}
	root, _ := Decode([]byte(`{"$defs":{`+wide+`},"list":[1,2],"":3}`), Limits{})
	r := NewReferences(root, nil)
	for ref, want := range map[string]string{
		"#": root.Raw, "#/$defs/y~1~0": "7", "#/%24defs/b": "{}", "#%2Flist/1": "2", "#/": "3",
		"#/list/2": "", "#/list/a": "", "#/none/none": "", "#anchor": "", "other.json#/list": "", "": "", "#/%zz": "",
		"#/" + strings.Repeat("a", maxRefBytes): "",
	} {
		var have string
		if target := r.Resolve(NewString(ref)); target != nil {
			have = target.Raw
		}
		if have != want {
			t.Errorf("%.40s leads to %s, want %s", ref, have, want)
		}
	}
}

func TestResolve_StopsWhenWorkIsSpent(t *testing.T) {
	t.Parallel()
	root, _ := Decode([]byte(`{"a":{}}`), Limits{})
	available := 200
	r := NewReferences(root, func(units int) bool { available -= units; return available > 0 })
	if r.Resolve(NewString("#/a")) == nil || r.Resolve(NewString("#")) != nil {
		t.Error("the work does not bound the references")
	}
	if r.Resolve(NewString("#/a")) == nil {
		t.Error("a known reference needs work")
	}
}
