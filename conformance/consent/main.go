package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// patience bounds the whole run. The suite itself waits five minutes for a person.
const patience = 2 * time.Minute

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	ctx, cancel := context.WithTimeout(ctx, patience)
	ann := account{issuer: os.Getenv("PATCHBAY_URL"), email: os.Getenv("CONFORMANCE_EMAIL"), password: os.Getenv("CONFORMANCE_PASSWORD")}
	err := run(ctx, os.Args[1:], ann, os.Stdout)
	cancel()
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run runs the suite's command against the issuer and gives the consent that it asks for.
func run(ctx context.Context, command []string, user account, out io.Writer) error {
	if len(command) == 0 {
		return errors.New("usage: consent COMMAND OPTION…, with PATCHBAY_URL, CONFORMANCE_EMAIL and CONFORMANCE_PASSWORD in the environment")
	}
	port, err := freePort(ctx)
	if err != nil {
		return err
	}
	id, err := registerClient(ctx, user.issuer, fmt.Sprintf("http://127.0.0.1:%d/callback", port))
	if err != nil {
		return err
	}
	suite := exec.CommandContext(ctx, command[0], command[1:]...)
	suite.Args = append(suite.Args, "--url", user.issuer, "--client-id", id, "--port", strconv.Itoa(port), "--resource", user.issuer+"/mcp")
	suite.Stderr = os.Stderr
	said, err := suite.StdoutPipe()
	if err != nil {
		return err
	}
	if err := suite.Start(); err != nil {
		return err
	}
	refused := user.followLinks(ctx, io.TeeReader(said, out))
	if refused != nil {
		_ = suite.Process.Kill() // it would wait for minutes
	}
	return errors.Join(refused, suite.Wait())
}

// followLinks reads the suite's output and opens the address that needs consent.
func (p account) followLinks(ctx context.Context, output io.Reader) error {
	lines := bufio.NewScanner(output)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if address := strings.TrimSpace(lines.Text()); strings.HasPrefix(address, p.issuer+"/oauth/authorize?") {
			if err := p.allowAccess(ctx, address); err != nil {
				return err
			}
		}
	}
	return lines.Err()
}

func freePort(ctx context.Context) (int, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	port := listener.Addr().(*net.TCPAddr).Port //nolint:forcetypeassert // of a TCP listener
	return port, listener.Close()
}
