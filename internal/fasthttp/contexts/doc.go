// Package contexts is package context's cancellation for contexts that are made thousands of times a second: an
// agent's request, the call in it. A [Context] is one allocation, and a child of another Context needs no map,
// no channel and no goroutine.
//
// For all other code it is an ordinary context. Compare its Err by errors.Is: with a cause, the error wraps
// both. For rare contexts use package context, which is shorter.
package contexts
