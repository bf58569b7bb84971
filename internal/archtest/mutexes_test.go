package archtest_test

import (
	"testing"

	"patchbay/internal/archtest"
)

func TestMutexes_CallsUnderUndeferredLocksAreRefused(t *testing.T) {
	t.Parallel()
	for body, refused := range map[string]bool{
		"x.mu.Lock(); defer x.mu.Unlock(); f()":                                       false,
		"x.mu.Lock(); defer func() { x.mu.Unlock(); f() }(); f()":                     false,
		"x.mu.RLock(); defer x.mu.RUnlock(); f()":                                     false,
		"x.mu.Lock(); x.n++; x.mu.Unlock(); f()":                                      false,
		"x.mu.Lock(); x.n = len(x.all); delete(x.all, 1); x.mu.Unlock()":              false,
		"x.mu.Lock(); x.at = time.Now(); x.timer.Stop(); x.mu.Unlock()":               false,
		"x.mu.Lock(); x.f = func() { f() }; x.mu.Unlock()":                            false,
		"x.mu.Lock(); f(); x.mu.Unlock()":                                             true,
		"x.mu.RLock(); n := x.all.Len(); x.mu.RUnlock(); _ = n":                       true,
		"x.mu.Lock(); f(); defer x.mu.Unlock()":                                       true,
		"x.mu.Lock(); x.all[x.key()] = 1; x.mu.Unlock()":                              true,
		"x.mu.Lock(); defer y.mu.Unlock(); f(); x.mu.Unlock()":                        true,
		"x.mu.Lock(); if x.over { x.mu.Unlock(); f(); return }; x.n++; x.mu.Unlock()": false,
		"x.mu.Lock(); if x.over() { x.mu.Unlock(); return }; x.mu.Unlock()":           true,
		"x.mu.Lock(); if x.over { f() }; x.mu.Unlock()":                               true,
		"x.mu.Lock(); if x.over { x.n++ } else { f() }; x.mu.Unlock()":                true,
		"x.mu.Lock(); for range 2 { f() }; x.mu.Unlock()":                             true,
		"x.mu.Lock(); switch { case x.over: f() }; x.mu.Unlock()":                     true,
		"x.mu.Lock(); select { case <-x.c: f(); default: }; x.mu.Unlock()":            true,
		"if x.over { x.mu.Lock() }; f(); x.mu.Unlock()":                               true,
		"g(func() { x.mu.Lock(); f(); x.mu.Unlock() })":                               true,
		"for { x.mu.Lock(); if x.over { x.mu.Unlock(); break }; x.mu.Unlock() }; f()": false,
		"x.mu.Lock(); if x.over { defer x.mu.Unlock(); f(); return }; x.mu.Unlock()":  false,
		"x.mu.Lock(); x.other.mu.Lock(); x.n++; x.other.mu.Unlock(); x.mu.Unlock()":   false,
		"x.mu.Lock(); x.other.mu.Lock(); x.mu.Unlock(); f(); x.other.mu.Unlock()":     true,
		"x.mu.Lock(); b := []byte(x.text); x.mu.Unlock(); _ = b":                      false,
		"x.mu.Lock(); x.mu.Unlock(); f(); x.mu.Lock(); defer x.mu.Unlock(); f()":      false,
		"x.file.Lock(1); f()": false,
		"func() { x.mu.Lock(); defer x.mu.Unlock(); f() }(); x.mu.Lock(); x.mu.Unlock()": false,
	} {
		source := "package a\nimport \"time\"\nfunc (x *a) g() { " + body + " }"
		for name, want := range map[string]bool{"a.go": refused, "a_test.go": false} {
			wrong, err := archtest.CheckFile(plan, "door", name, []byte(source))
			if err != nil || (len(wrong) > 0) != want {
				t.Errorf("%s: %s: %q, %v", name, body, wrong, err)
			}
		}
	}
}
