// Package egressproxy is a real HTTP proxy on loopback for tests: it takes CONNECT, asks for a password where it is told to, and leads
// whatever is asked for to one server of the test's. What is asked for never leaves the machine.
package egressproxy
