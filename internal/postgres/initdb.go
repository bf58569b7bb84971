package postgres

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"patchbay/internal/fault"
)

// initialize makes the cluster where there is none. It is made beside its place and moved there when whole, so that
// an interrupted start leaves nothing that looks like a cluster.
func (c *Cluster) initialize(ctx context.Context) error {
	major, err := c.layout.major()
	if err != nil || major != 0 {
		return err
	}
	if _, err := os.Lstat(c.layout.data()); err == nil {
		return fault.Errorf(fault.Unavailable, "%s is there and is no PostgreSQL cluster; move it away, or choose another PATCHBAY_DATA_DIR.", c.layout.data())
	}
	c.removeUnfinished()
	side, err := os.MkdirTemp(c.layout.home(), "data.new-")
	if err != nil {
		return fault.Wrap(fault.Unavailable, err, fmt.Sprintf("%s cannot be written.", c.layout.home()))
	}
	if err := c.id.own(side); err != nil {
		return err
	}
	c.opts.Log.InfoContext(ctx, "making the database cluster", "dir", c.layout.data(), "postgres_version", c.bin.Version)
	if err := c.initdb(ctx, side); err != nil {
		return err
	}
	if err := os.Rename(side, c.layout.data()); err != nil {
		return fault.Wrap(fault.Unavailable, err, "The new database cluster cannot be moved to its place.")
	}
	return syncDir(c.layout.home())
}

func (c *Cluster) initdb(ctx context.Context, side string) error {
	var failure error
	for _, locale := range c.locales() {
		args := append([]string{"-D", side, "-U", ownerRole, "--encoding=UTF8", "--auth-local=trust", "--auth-host=reject",
			"--data-checksums", "--no-instructions"}, locale...)
		if c.opts.Throwaway {
			args = append(args, "--no-sync")
		}
		cmd := c.id.program(c.bin, "initdb", c.layout.home(), args...)
		var output bytes.Buffer
		cmd.Stdout, cmd.Stderr = &output, &output
		err := run(ctx, cmd)
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		failure = errors.Join(failure, fmt.Errorf("initdb %s: %w: %s", strings.Join(locale, " "), err, lastLines(output.String(), 4)))
	}
	return fault.Wrap(fault.Unavailable, failure, "PostgreSQL's initdb could not make the database cluster.")
}

// locales are tried in order: all sort by code point and know the letters of all languages, but for the last, which
// every machine has.
func (c *Cluster) locales() [][]string {
	plain := []string{"--no-locale"}
	if c.bin.Major >= 17 {
		return [][]string{{"--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C"}, plain}
	}
	return [][]string{{"--locale=C.UTF-8"}, plain}
}

// removeUnfinished clears what an interrupted initdb left.
func (c *Cluster) removeUnfinished() {
	left, err := filepath.Glob(filepath.Join(c.layout.home(), "data.new-*"))
	if err != nil {
		return
	}
	for _, dir := range left {
		if err := os.RemoveAll(dir); err != nil {
			c.opts.Log.Warn("an unfinished cluster stays", "dir", dir, "error", err)
		}
	}
}

func syncDir(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("sync %s: %w", path, err)
	}
	defer dir.Close()
	if err := dir.Sync(); err != nil {
		return fmt.Errorf("sync %s: %w", path, err)
	}
	return nil
}

func lastLines(text string, n int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], " | ")
}
