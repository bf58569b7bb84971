// Package lifetime is package context's cancellation for what begins and ends thousands of times a second: an agent's request, the call in
// it. A [Context] is one piece of memory, and one that is a part of another one is known to it without a map, a channel or a goroutine. It is
// an ordinary context to everybody else, whose Err is to be compared by errors.Is: where it ended for a cause, it is an error that has both.
//
// It is not for what is made now and then: package context says the same in fewer words.
package lifetime
