// Package socket reads and writes TCP connections without telling Go's scheduler.
//
// The runtime prepares for each system call to take long: its monitor looks every 20 µs for calls that are not back, hands their
// processors to other threads, and is woken from its sleep by whichever call ends next. A call on a socket that does not block is back at
// once, whether or not there was anything to read or room to write; waiting is the poller's. Of a call through the gateway the monitor
// alone took a tenth. docs/adr/0009 has the reasons and the price.
package socket
