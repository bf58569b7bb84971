package safe

import "sync"

// Go runs f in a goroutine of its own.
func Go(k Kind, f func()) { go run(k, f) }

// GoIn is Go, and counts the goroutine in a group.
func GoIn(group *sync.WaitGroup, k Kind, f func()) {
	group.Go(func() { run(k, f) })
}

// Func returns f for a timer or a context's end.
func Func(k Kind, f func()) func() { return func() { run(k, f) } }

// Try returns f with an error in place of a panic.
func Try(k Kind, f func() error) func() error {
	return func() (err error) {
		defer RecoverTo(k, &err)
		return f()
	}
}

func run(k Kind, f func()) {
	defer Recover(k)
	f()
}
