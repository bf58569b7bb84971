package tcp

import "net"

// Listener returns a listener whose connections are wrapped by [Direct].
func Listener(l net.Listener) net.Listener { return directListener{l} }

type directListener struct{ net.Listener }

// Accept waits for a connection.
func (l directListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return Direct(c), nil
}
