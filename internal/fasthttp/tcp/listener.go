package tcp

import "net"

// WrapListener returns a listener whose connections are wrapped by [Direct].
func WrapListener(l net.Listener) net.Listener { return directListener{l} }

type directListener struct{ net.Listener }

// Accept waits for a connection.
func (l directListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return WrapConn(c), nil
}
