package pgtest

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// bouncerPort is part of its socket's name; nothing listens on a port.
const bouncerPort = "6432"

// Bouncer is StartBouncer for who needs its address alone.
func Bouncer(t testing.TB, database string, size int) string {
	t.Helper()
	return StartBouncer(t, database, size).URL
}

// PgBouncer is one that runs for a test.
type PgBouncer struct {
	URL string // of the database, through it

	program, dir string
	attr         *syscall.SysProcAttr
	cmd          *exec.Cmd
	ended        chan struct{}
}

// StartBouncer starts PgBouncer in transaction mode before the database of url, with at most size sessions there. The URL's role is the
// one that may sign in, and must be allowed to without a password. Without pgbouncer the test is skipped, or fails where CI=true.
func StartBouncer(t testing.TB, database string, size int) *PgBouncer {
	t.Helper()
	program := findBouncer(t)
	to, err := pgx.ParseConfig(database)
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp(memory(), "pb-bouncer-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	password := ""
	if to.Password != "" {
		password = fmt.Sprintf(" password='%s'", to.Password)
	}
	settings := fmt.Sprintf(`[databases]
%s = host='%s' port=%d%s
[pgbouncer]
listen_addr =
listen_port = %s
unix_socket_dir = %s
auth_type = trust
auth_file = %s/users
pool_mode = transaction
default_pool_size = %d
max_client_conn = 500
log_connections = 0
log_disconnections = 0
`, to.Database, to.Host, to.Port, password, bouncerPort, dir, dir, size)
	for name, text := range map[string]string{"ini": settings, "users": fmt.Sprintf("%q \"\"\n", to.User)} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	address := url.URL{Scheme: "postgres", User: url.User(to.User), Path: "/" + to.Database, RawQuery: url.Values{"host": {dir}, "port": {bouncerPort}, "sslmode": {"disable"}}.Encode()}
	b := &PgBouncer{URL: address.String(), program: program, dir: dir, attr: asServerOf(t, to.Host, dir)}
	b.start(t)
	t.Cleanup(func() {
		b.kill()
		if t.Failed() {
			said, _ := os.ReadFile(filepath.Join(dir, "log"))
			t.Logf("PgBouncer said:\n%s", said)
		}
	})
	return b
}

// Restart kills it, with whatever goes through it, and starts it again at the same address.
func (b *PgBouncer) Restart(t testing.TB) {
	t.Helper()
	b.kill()
	if err := os.RemoveAll(b.socket()); err != nil { // what waits for it would take the dead one's for it
		t.Fatal(err)
	}
	b.start(t)
}

func (b *PgBouncer) socket() string { return filepath.Join(b.dir, ".s.PGSQL."+bouncerPort) }

func (b *PgBouncer) start(t testing.TB) {
	t.Helper()
	log, err := os.OpenFile(filepath.Join(b.dir, "log"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	cmd, ended := exec.Command(b.program, filepath.Join(b.dir, "ini")), make(chan struct{})
	cmd.SysProcAttr, cmd.Stdout, cmd.Stderr = b.attr, log, log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(ended)
		_ = cmd.Wait()
	}()
	b.cmd, b.ended = cmd, ended
	awaitSocket(t, b.socket(), ended)
}

func (b *PgBouncer) kill() {
	_ = b.cmd.Process.Kill()
	<-b.ended
}

func findBouncer(t testing.TB) string {
	t.Helper()
	for _, name := range []string{"pgbouncer", "/usr/sbin/pgbouncer"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	if os.Getenv("CI") == "true" {
		t.Fatal("pgbouncer is not installed, and CI=true")
	}
	t.Skip("pgbouncer is not installed")
	return ""
}

// asServerOf has root's PgBouncer, which refuses to be root's, run as the user whose socket it is to reach.
func asServerOf(t testing.TB, host, dir string) *syscall.SysProcAttr {
	t.Helper()
	attr := &syscall.SysProcAttr{}
	dieWithUs(attr)
	if os.Geteuid() != 0 {
		return attr
	}
	const nobody = 65534
	uid, gid := uint32(nobody), uint32(nobody)
	if info, err := os.Stat(host); err == nil {
		if owner, ok := info.Sys().(*syscall.Stat_t); ok {
			uid, gid = owner.Uid, owner.Gid
		}
	}
	if err := os.Chown(dir, int(uid), int(gid)); err != nil {
		t.Fatal(err)
	}
	attr.Credential = &syscall.Credential{Uid: uid, Gid: gid}
	return attr
}

func awaitSocket(t testing.TB, path string, ended <-chan struct{}) {
	t.Helper()
	deadline := time.After(time.Minute)
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for {
		conn, err := net.Dial("unix", path)
		if err == nil {
			_ = conn.Close()
			return
		}
		select {
		case <-again.C:
		case <-ended:
			t.Fatal("PgBouncer does not start")
		case <-deadline:
			t.Fatalf("PgBouncer does not listen on %s: %v", path, err)
		}
	}
}

// Pooled makes a role that signs in to the database of url and works as the runtime role, as an operator does for a pooler, and returns
// the database's address for it.
func Pooled(t testing.TB, database string) string {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), database)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	u, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	role := "pooled" + strconv.FormatInt(time.Now().UnixNano(), 36)
	for _, sql := range []string{
		"create role " + role + " login in role patchbay_app", "alter role " + role + " set role = patchbay_app",
		"alter role " + role + " set statement_timeout = '60s'", "alter role " + role + " set idle_in_transaction_session_timeout = '60s'",
	} {
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	t.Cleanup(func() {
		if s, err := open(); err == nil {
			_, _ = s.pool.Exec(context.Background(), "drop role "+role)
		}
	})
	u.User = url.User(role)
	return u.String()
}
