// Package safe runs code so that a panic ends that code alone, and never the process.
//
//	Go, GoIn                  start a goroutine; GoIn counts it in a sync.WaitGroup
//	RunLoop                   runs a background loop, and starts it again after a panic
//	Recover, RecoverTo        are deferred in functions that timers, pools and servers call
//	Func, Try                 wrap a function, where a deferred call has no place to stand
//	Caught                    reports what a handler recovered by itself
//
// Each panic becomes one error in the log, with its stack and without its value, and counts in [Count]. A package starts no
// goroutine and no timer without one of these; internal/archtest holds that.
//
// A recovered goroutine leaves its locks and channels as they are: whatever others wait for is released or closed by a deferred call.
package safe
