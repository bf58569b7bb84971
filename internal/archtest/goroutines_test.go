package archtest_test

import (
	"testing"

	"patchbay/internal/archtest"
)

func TestGoroutinesThatDoNotRecoverAreRefused(t *testing.T) {
	t.Parallel()
	for text, refused := range map[string]bool{
		"func f() { go f() }":                                                            true,
		"func f() { safe.Go(safe.Task, f) }":                                             false,
		"func f() { time.AfterFunc(1, f) }":                                              true,
		"func f() { time.AfterFunc(1, safe.Func(safe.Timer, f)) }":                       false,
		"func f() { time.AfterFunc(1, func() { f() }) }":                                 true,
		"func f() { time.AfterFunc(1, func() { defer safe.Recover(safe.Timer); f() }) }": false,
		"func f() { context.AfterFunc(nil, f) }":                                         true,
		"func f(cancel func()) { context.AfterFunc(nil, cancel) }":                       false,
		"func f(g group) { g.Go(func() {}) }":                                            true,
		"func f(g group) { g.Go(safe.Try(safe.Task, nil)) }":                             false,
		"func f(g group) { g.DoChan(\"\", func() (any, error) { return nil, nil }) }":    true,
		"func f(g group) { g.DoChan(\"\", func() (_ any, err error) { defer safe.RecoverTo(safe.Task, &err); return nil, nil }) }": false,
	} {
		source := "package a\nimport (\n\"context\"\n\"time\"\n\"patchbay/internal/safe\"\n)\n" + text
		for name, want := range map[string]bool{"a.go": refused, "a_test.go": false} {
			wrong, err := archtest.CheckFile(house, "door", name, []byte(source))
			if err != nil || (len(wrong) > 0) != want {
				t.Errorf("%s: %s: %q, %v", name, text, wrong, err)
			}
		}
	}
}
