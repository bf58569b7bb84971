package mcp_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"patchbay/internal/mcp"
	"patchbay/internal/testing/executable"
)

// peerMode is the environment variable that makes this test binary a stdio server with the named behaviour.
const peerMode = "MCP_TEST_PEER"

func TestMain(m *testing.M) {
	mcp.Launch(os.Args)
	if mode, ok := os.LookupEnv(peerMode); ok {
		if strings.HasPrefix(mode, "replay ") {
			replay(mode)
		}
		if strings.HasPrefix(mode, "calls ") {
			runCallPeer(mode == "calls modern")
			return
		}
		runPeer(mode)
		return
	}
	os.Exit(m.Run())
}

// runPeer is a handshake-era server. Its tools are named after its arguments and environment.
func runPeer(mode string) {
	out := bufio.NewWriter(os.Stdout)
	say := func(format string, args ...any) {
		_, _ = fmt.Fprintf(out, format+"\n", args...)
		_ = out.Flush()
	}
	switch mode {
	case "exits":
		os.Exit(3)
	case "explains":
		_, _ = fmt.Fprint(os.Stderr, strings.Repeat("starting\n", 2000), "no such database\n")
		os.Exit(3)
	case "banner":
		say("Welcome!\n\n[INFO] starting\n{ not json\n{\"level\":\"info\",\"msg\":\"up\"}")
	case "noise":
		for {
			say("%s", strings.Repeat("la ", 1000))
		}
	case "huge":
		for {
			_, _ = out.Write(bytes.Repeat([]byte("["), 1<<16))
		}
	case "stubborn":
		signal.Ignore(syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT)
	case "parent", "far parent":
		child := exec.Command("/bin/sleep", "1000")
		child.Stdout, child.Stderr = os.Stdout, os.Stderr // the child holds the pipes
		child.SysProcAttr = &syscall.SysProcAttr{Setsid: mode == "far parent"}
		if err := child.Start(); err != nil {
			panic(err)
		}
		_, _ = fmt.Fprintf(os.Stderr, "child %d\n", child.Process.Pid)
	case "complains":
		_, _ = fmt.Fprintln(os.Stderr, "something is wrong")
		go func() {
			for {
				_, _ = fmt.Fprintln(os.Stderr, "something is wrong")
			}
		}()
	case "deaf":
		waitForever()
	case "dumb":
		_ = os.Stdout.Close()
		waitForever()
	}
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var m struct {
			ID     json.RawMessage
			Method string
		}
		if json.Unmarshal(lines.Bytes(), &m) != nil || m.ID == nil {
			continue
		}
		switch m.Method {
		case "initialize":
			say(`{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"peer","version":"1"}}}`, m.ID)
		case "tools/list":
			if mode == "quits" {
				os.Exit(4)
			}
			say(`{"jsonrpc":"2.0","id":%s,"result":{"tools":%s}}`, m.ID, peerTools())
		default:
			say(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"Method not found"}}`, m.ID)
		}
	}
	switch mode {
	case "stubborn":
		waitForever()
	case "polite":
		_, _ = fmt.Fprintln(os.Stderr, "goodbye")
	}
}

func peerTools() string {
	var names []string
	for _, entry := range os.Environ() {
		name, _, _ := strings.Cut(entry, "=")
		names = append(names, "env "+name)
	}
	slices.Sort(names)
	dir, _ := os.Getwd()
	names = append(names, "in "+dir)
	for _, arg := range os.Args[1:] {
		names = append(names, "arg "+arg)
	}
	resources := []string{"core", "data", "files"}
	if !slices.Contains(os.Args, "-limits") {
		resources = resources[:1]
	}
	for i, resource := range resources {
		var limit syscall.Rlimit
		_ = syscall.Getrlimit([]int{syscall.RLIMIT_CORE, syscall.RLIMIT_DATA, syscall.RLIMIT_NOFILE}[i], &limit)
		names = append(names, resource+" "+strconv.FormatUint(limit.Cur, 10))
	}
	tools := make([]string, len(names))
	for i, name := range names {
		b, _ := json.Marshal(name)
		tools[i] = `{"name":` + string(b) + `,"inputSchema":{"type":"object"}}`
	}
	return "[" + strings.Join(tools, ",") + "]"
}

func newProgramTarget(t *testing.T, mode string) mcp.Target {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return mcp.Target{Transport: mcp.Stdio, Timeout: patience, Command: &mcp.Command{Path: self, Env: []string{peerMode + "=" + mode}, Dir: "/"}}
}

// waitForever waits until the process is killed. A program that also listens for a signal is no deadlock, which ends it.
func waitForever() {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGUSR1)
	select {}
}

// wantNoProcess fails if a process with the mark survives.
func wantNoProcess(t *testing.T, mark string) {
	t.Helper()
	again, late := time.NewTicker(20*time.Millisecond), time.After(patience)
	defer again.Stop()
	for {
		left := findMarked(t, mark)
		if len(left) == 0 {
			return
		}
		select {
		case <-again.C:
		case <-late:
			t.Errorf("processes %v are left", left)
			return
		}
	}
}

func findMarked(t *testing.T, mark string) (pids []string) {
	t.Helper()
	for _, pid := range listProcesses(t) {
		environ, _ := os.ReadFile(filepath.Join("/proc", pid, "environ"))
		if bytes.Contains(environ, []byte(mark)) {
			pids = append(pids, pid)
		}
	}
	return pids
}

func listProcesses(t *testing.T) []string {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*")
	if err != nil || len(all) == 0 {
		withoutProc(t)
	}
	for i := range all {
		all[i] = filepath.Base(all[i])
	}
	return all
}

// markPeer gives the peer a mark that its descendants inherit.
func markPeer(t *testing.T, target mcp.Target) string {
	t.Helper()
	mark := fmt.Sprintf("PEER_MARK=%s/%d", t.Name(), os.Getpid())
	target.Command.Env = append(target.Command.Env, mark)
	t.Cleanup(func() { wantNoProcess(t, mark) })
	return mark
}

func TestStdio_EnvironmentIsNotInherited(t *testing.T) {
	t.Parallel()
	target := newProgramTarget(t, "")
	target.Command.Args = []string{"-x", "a b"}
	markPeer(t, target)
	server, list, err := newClient(t).sync(t, target)
	if err != nil {
		t.Fatal(err)
	}
	want := "env MCP_TEST_PEER env PEER_MARK in / arg -x arg a b core 0"
	if got := names(list); server.Name != "peer" || got != want {
		t.Errorf("%s: %q, want %q", server.Name, got, want)
	}
}

func TestStdio_LauncherLimitsAProgramFromItsStart(t *testing.T) {
	t.Parallel()
	target := newProgramTarget(t, "")
	target.Command.Args = []string{"-limits", "a b"}
	target.Command.Launcher, target.Command.Limits = target.Command.Path, mcp.Limits{Memory: 5 << 30, OpenFiles: 99}
	markPeer(t, target)
	_, list, err := newClient(t).sync(t, target)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := names(list), "env MCP_TEST_PEER env PEER_MARK in / arg -limits arg a b core 0 data 5368709120 files 99"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestStdio_ToleratedPrograms(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"banner", "complains", "parent", "far parent", "stubborn"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			target := newProgramTarget(t, mode)
			markPeer(t, target)
			if _, list, err := newClient(t).sync(t, target); err != nil || len(list.Tools) == 0 {
				t.Errorf("%v, %d tools", err, len(list.Tools))
			}
		})
	}
}

func TestStdio_FailuresAreExplained(t *testing.T) {
	t.Parallel()
	for mode, tc := range map[string]struct {
		reason mcp.Reason
		detail string
	}{
		"exits": {mcp.ReasonProtocol, "ended before its reply, with exit code 3"},
		"quits": {mcp.ReasonProtocol, "ended before its reply, with exit code 4"},
		"noise": {mcp.ReasonProtocol, "keeps writing non-MCP text to standard output"},
		"huge":  {mcp.ReasonTooLarge, "sent over 8 MiB"},
		"deaf":  {mcp.ReasonTimeout, ""},
		"dumb":  {mcp.ReasonProtocol, "closed its standard output"},
	} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			target := newProgramTarget(t, mode)
			if mode == "deaf" {
				target.Timeout = time.Second
			}
			markPeer(t, target)
			_, _, err := newClient(t).sync(t, target)
			failure, ok := errors.AsType[*mcp.Error](err)
			if !ok || failure.Reason != tc.reason || failure.Detail != tc.detail {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestStdio_StartErrorsAreExplained(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	data := filepath.Join(dir, "data")
	if err := os.WriteFile(data, []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	for folder, why := range map[string]string{data: "a file", filepath.Join(dir, "nothing"): "missing"} {
		_, _, err := newClient(t).sync(t, mcp.Target{Transport: mcp.Stdio, Command: &mcp.Command{Path: "/bin/true", Dir: folder}})
		if failure, ok := errors.AsType[*mcp.Error](err); !ok || failure.Detail != "can't be started: its folder isn't usable" || strings.Contains(err.Error(), dir) {
			t.Errorf("a folder that is %s: %v", why, err)
		}
	}
	for want, command := range map[string]mcp.Command{
		"it doesn't exist here":                {Path: filepath.Join(dir, "nothing")},
		"its interpreter or loader is missing": {Path: executable.Write(t, filepath.Join(dir, "script"), "#!/nowhere/sh\n")},
		"Patchbay's user may not execute it":   {Path: data},
		"it can't run on this machine":         {Path: executable.Write(t, filepath.Join(dir, "garbage"), "\x01\x02\x03")},
	} {
		for _, command.Launcher = range []string{"", newProgramTarget(t, "").Command.Path} {
			_, _, err := newClient(t).sync(t, mcp.Target{Transport: mcp.Stdio, Command: &command})
			failure, ok := errors.AsType[*mcp.Error](err)
			if !ok || failure.Detail != "can't be started: "+want || failure.Retryable || strings.Contains(err.Error(), dir) {
				t.Errorf("%s (launcher %q): %v", want, command.Launcher, err)
			}
		}
	}
}

func TestStdio_DiagnoseGetsBoundedStderr(t *testing.T) {
	t.Parallel()
	target := newProgramTarget(t, "complains")
	var said []byte
	target.Command.Diagnose = func(text []byte) { said = text }
	if _, _, err := newClient(t).sync(t, target); err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(said, []byte("something is wrong")) || len(said) > 8<<10 {
		t.Errorf("%d bytes", len(said))
	}
}

func TestStdio_StderrAtExitIsReported(t *testing.T) {
	t.Parallel()
	for range 10 {
		target := newProgramTarget(t, "polite")
		var said string
		target.Command.Diagnose = func(text []byte) { said = string(text) }
		if _, _, err := newClient(t).sync(t, target); err != nil || said != "goodbye\n" {
			t.Errorf("%v, %q", err, said)
		}
	}
}

func TestStdio_SlowProgramGetsFullTimeout(t *testing.T) {
	t.Parallel()
	target := newProgramTarget(t, "")
	target.Command.Args = target.Command.Args[:0]
	s, err := newClient(t).Dial(t.Context(), target) // an unknown era is probed before the handshake
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close(t.Context())
	if s.Era() != mcp.EraHandshake {
		t.Errorf("era %q", s.Era())
	}
}

func TestStdio_ManyProgramsLeaveNothingBehind(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts many processes")
	}
	files := func() int {
		all, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			withoutProc(t)
		}
		return len(all)
	}
	c := newClient(t)
	run := func(n int) {
		for range n {
			target := newProgramTarget(t, "parent")
			markPeer(t, target)
			if _, _, err := c.sync(t, target); err != nil {
				t.Fatal(err)
			}
		}
	}
	run(1)
	before := files()
	run(20)
	if after := files(); after >= before+20 { // at least one of each would be left
		t.Errorf("%d open files, and %d before", after, before)
	}
}
