package serve_test

import (
	"errors"
	"io"
	"net"
	"testing"

	"patchbay/internal/framing"
	"patchbay/internal/mcp/serve"
)

// The connections are wrapped, and net/http needs their CloseWrite.
func TestConnections_SupportCloseWrite(t *testing.T) {
	t.Parallel()
	var listens net.ListenConfig
	tcp, err := listens.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := framing.Listen(serve.Connections(tcp))
	defer func() { _ = l.Close() }()
	var dials net.Dialer
	client, err := dials.DialContext(t.Context(), "tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Close() }()
	server, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = server.Close() }()
	half, ok := server.(interface{ CloseWrite() error })
	if !ok || half.CloseWrite() != nil {
		t.Fatalf("%T cannot end one side", server)
	}
	if n, err := client.Read(make([]byte, 1)); n != 0 || !errors.Is(err, io.EOF) {
		t.Errorf("the client reads %d, %v", n, err)
	}
	got := make([]byte, 5)
	if _, err := io.WriteString(client, "still"); err != nil {
		t.Error(err)
	}
	if _, err := io.ReadFull(server, got); err != nil || string(got) != "still" {
		t.Errorf("the server reads %q, %v", got, err)
	}
}
