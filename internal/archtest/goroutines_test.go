package archtest_test

import (
	"testing"

	"patchbay/internal/archtest"
)

// recovers declares functions that may be called by others, and some that may not.
const recovers = `
type a struct{ field func() }
func (x *a) well() { defer safe.Recover(safe.Timer); f() }
func (x *a) bad() { f() }
func (x *a) both() { defer safe.Recover(safe.Timer); f() }
func (x *a) late() { defer f(); defer safe.Recover(safe.Timer) }
type b struct{ both func() }
func (x *b) twice() { defer safe.Recover(safe.Timer) }
type c struct{}
func (x *c) twice() {}
func wellToo() { defer safe.Recover(safe.Timer) }
`

func TestGoroutinesThatDoNotRecoverAreRefused(t *testing.T) {
	t.Parallel()
	for text, refused := range map[string]bool{
		"func f() { go f() }":                               true,
		"func f() { safe.Go(safe.Task, f) }":                false,
		"func f() { time.AfterFunc(1, f) }":                 true,
		"func f() { context.AfterFunc(nil, f) }":            true,
		"func f() { after := time.AfterFunc; after(1, f) }": true,
		"var after = context.AfterFunc":                     true,

		"func f() { time.AfterFunc(1, safe.Func(safe.Timer, f)) }":                                   false,
		"func f() { time.AfterFunc(1, func() { f() }) }":                                             true,
		"func f() { time.AfterFunc(1, func() { defer safe.Recover(safe.Timer); f() }) }":             false,
		"func f() { time.AfterFunc(1, func() { f(); defer safe.Recover(safe.Timer) }) }":             true,
		"func f() { time.AfterFunc(1, func() { defer f(); defer safe.Recover(safe.Timer) }) }":       true,
		"func f() { time.AfterFunc(1, func() { if true { defer safe.Recover(safe.Timer) }; f() }) }": true,

		"func f(cancel func()) { context.AfterFunc(nil, cancel) }":                                        true,
		"func f() { _, cancel := context.WithCancel(nil); context.AfterFunc(nil, cancel) }":               false,
		"func f() { _, cancel := context.WithTimeout(nil, 1); time.AfterFunc(1, cancel) }":                false,
		"func f() { _, cancel := f(); context.AfterFunc(nil, cancel) }":                                   true,
		"func f() { cancel, _ := context.WithCancel(nil); context.AfterFunc(nil, cancel) }":               true,
		"func f() { _, cancel := context.WithCancel(nil); cancel = f; context.AfterFunc(nil, cancel) }":   true,
		"func f(x *a) { _, x.field = context.WithCancel(nil); context.AfterFunc(nil, x.field) }":          false,
		"func f(x *a) { context.AfterFunc(nil, x.field) }":                                                true,
		"func f() { end := func() { defer safe.Recover(safe.Timer); f() }; context.AfterFunc(nil, end) }": false,
		"func f() { end := func() { f() }; context.AfterFunc(nil, end) }":                                 true,
		"func f() { var end func() = nil; context.AfterFunc(nil, end) }":                                  true,
		"func f() { context.AfterFunc(nil, wellToo) }":                                                    false,
		"func f(wellToo func()) { context.AfterFunc(nil, wellToo) }":                                      true,
		"func f() { time.AfterFunc(1, time.Stop) }":                                                       true,

		"func (x *a) g() { time.AfterFunc(1, x.well) }":  false,
		"func (x *a) g() { time.AfterFunc(1, x.bad) }":   true,
		"func (x *a) g() { time.AfterFunc(1, x.late) }":  true,
		"func (x *a) g() { time.AfterFunc(1, x.both) }":  false, // x is no b
		"func g(x any) { time.AfterFunc(1, x.well) }":    false,
		"func g(x any) { time.AfterFunc(1, x.both) }":    true, // it may be the field of b
		"func g(x any) { time.AfterFunc(1, x.twice) }":   true, // it may be the method of c
		"func g(x any) { time.AfterFunc(1, x.nothing) }": true,

		"func f(g group) { g.Go(func() {}) }":                                                                                      true,
		"func f(g group) { g.Go(safe.Try(safe.Task, nil)) }":                                                                       false,
		"func f(g group) { g.TryGo(func() error { return nil }) }":                                                                 true,
		"func f(g group) { g.TryGo(safe.Try(safe.Task, nil)) }":                                                                    false,
		"func f(g group) { g.DoChan(\"\", func() (any, error) { return nil, nil }) }":                                              true,
		"func f(g group) { g.DoChan(\"\", func() (_ any, err error) { defer safe.RecoverTo(safe.Task, &err); return nil, nil }) }": false,
		"func f(s server) { s.RegisterOnShutdown(f) }":                                                                             true,
		"func f(s server) { s.RegisterOnShutdown(safe.Func(safe.Task, f)) }":                                                       false,

		"func f(x *a) { runtime.AddCleanup(x, func(int) {}, 1) }":                                true,
		"func f(x *a) { runtime.AddCleanup(x, func(int) { defer safe.Recover(safe.Task) }, 1) }": false,
		"func (x *a) g() { runtime.AddCleanup(x, x.well, 1) }":                                   false,
		"func f(x *a) { runtime.SetFinalizer(x, func(*a) {}) }":                                  true,
		"func f(x *a) { runtime.SetFinalizer(x, nil) }":                                          false,

		"var c = prometheus.NewCounterFunc(1, func() float64 { return 1 })":                                          true,
		"var c = prometheus.NewGaugeFunc(1, func() float64 { return 1 })":                                            true,
		"var c = prometheus.NewGaugeFunc(1, func() float64 { defer safe.Recover(safe.Task); return 1 })":             false,
		"var j = river.NewPeriodicJob(1, func() (a, b any) { return nil, nil }, nil)":                                true,
		"var j = river.NewPeriodicJob(1, func() (a, b any) { defer safe.Recover(safe.Task); return nil, nil }, nil)": false,

		"func (x *a) Collect(ch chan<- prometheus.Metric) { f() }":                                true,
		"func (x *a) Collect(ch chan<- prometheus.Metric) { defer safe.Recover(safe.Task); f() }": false,
		"func (x *a) Collect(ch chan<- int) { f() }":                                              false,

		"var d = net.Dialer{Control: f}":         true,
		"var d = net.Dialer{Control: wellToo}":   false,
		"var d = http.Transport{DialContext: f}": true,
		"var d = http.Transport{DialContext: func() (err error) { defer safe.RecoverTo(safe.Task, &err); return nil }}": false,
		"func f(config any) { config.AfterConnect = f }":                                                                true,
		"func f(config any) { config.AfterConnect = wellToo }":                                                          false,
		"func f(config any) { config.AfterConnect = nil }":                                                              false,
	} {
		source := "package a\nimport (\n\"context\"\n\"runtime\"\n\"time\"\n\"github.com/prometheus/client_golang/prometheus\"\n\"github.com/riverqueue/river\"\n\"patchbay/internal/safe\"\n)\n" +
			recovers + text
		for name, want := range map[string]bool{"a.go": refused, "a_test.go": false} {
			wrong, err := archtest.CheckFile(plan, "door", name, []byte(source))
			if err != nil || (len(wrong) > 0) != want {
				t.Errorf("%s: %s: %q, %v", name, text, wrong, err)
			}
		}
	}
}

func TestGoroutines_NamelessImportsAreRefused(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"time", "context", "runtime"} {
		wrong, err := archtest.CheckFile(plan, "door", "a.go", []byte("package a\nimport . \""+path+"\"\nfunc f() { AfterFunc(1, f) }"))
		if err != nil || len(wrong) == 0 {
			t.Errorf("%s: %q, %v", path, wrong, err)
		}
	}
}
