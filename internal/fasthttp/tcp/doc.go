// Package tcp reads and writes TCP connections with raw system calls, without Go's scheduler.
//
// For each system call the runtime expects a long wait: its monitor looks every 20 µs for calls that have not
// returned and hands their processors to other threads. A call on a non-blocking socket returns at once, and
// the poller does the waiting. The monitor alone took a tenth of the CPU of a call through the gateway.
// docs/adr/0009 has the reasons and the price.
//
// [Direct] wraps a connection on Linux (direct_linux.go), and returns it unchanged elsewhere (direct_other.go).
// [Peek] and [Ended] inspect a socket.
package tcp
