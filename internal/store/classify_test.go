package store

import (
	"context"
	"encoding/binary"
	"net"
	"testing"

	"github.com/jackc/pgx/v5"

	"patchbay/internal/fault"
)

// A PostgreSQL with a full disk refuses sessions with an internal error of its own (XX000, "could not write
// init file").
func TestClassify_RefusedSessionIsUnavailable(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	go func() {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		_, _ = conn.Read(make([]byte, 1024))
		said := "SFATAL\x00CXX000\x00Mcould not write init file\x00\x00"
		_, _ = conn.Write(append(binary.BigEndian.AppendUint32([]byte("E"), uint32(4+len(said))), said...))
	}()
	_, err = pgx.Connect(context.Background(), "postgres://patchbay@"+listener.Addr().String()+"/patchbay?sslmode=disable")
	if err == nil || !fault.Is(classifyError(err), fault.Unavailable) {
		t.Errorf("%v is classified as %v", err, classifyError(err))
	}
}
