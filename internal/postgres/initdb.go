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

// ensureInitialized creates the cluster if there is none. It is created under another name and renamed when
// complete, so that an interrupted start leaves nothing that looks like a cluster.
func (c *Cluster) ensureInitialized(ctx context.Context) error {
	major, err := c.layout.findMajor()
	if err != nil || major != 0 {
		return err
	}
	if _, err := os.Lstat(c.layout.pgData()); err == nil {
		return fault.Errorf(fault.Unavailable, "%s exists and is not a PostgreSQL cluster; move it away, or choose another PATCHBAY_DATA_DIR.", c.layout.pgData())
	}
	c.removeUnfinished()
	side, err := os.MkdirTemp(c.layout.clusterDir(), "data.new-")
	if err != nil {
		return fault.Wrap(fault.Unavailable, err, fmt.Sprintf("%s cannot be written.", c.layout.clusterDir()))
	}
	if err := c.id.chownTree(side); err != nil {
		return err
	}
	c.opts.Log.InfoContext(ctx, "creating the database cluster", "dir", c.layout.pgData(), "postgres_version", c.bin.Version)
	if err := c.runInitdb(ctx, side); err != nil {
		return err
	}
	if err := os.Rename(side, c.layout.pgData()); err != nil {
		return fault.Wrap(fault.Unavailable, err, "The new database cluster cannot be moved into place.")
	}
	return syncDir(c.layout.clusterDir())
}

func (c *Cluster) runInitdb(ctx context.Context, side string) error {
	var failure error
	for _, locale := range c.localeFlags() {
		args := append([]string{"-D", side, "-U", ownerRole, "--encoding=UTF8", "--auth-local=trust", "--auth-host=reject",
			"--data-checksums", "--no-instructions"}, locale...)
		if c.opts.Throwaway {
			args = append(args, "--no-sync")
		}
		cmd := c.id.newCommand(c.bin, "initdb", c.layout.clusterDir(), args...)
		var output bytes.Buffer
		cmd.Stdout, cmd.Stderr = &output, &output
		err := runCommand(ctx, cmd)
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		failure = errors.Join(failure, fmt.Errorf("initdb %s: %w: %s", strings.Join(locale, " "), err, lastLines(output.String(), 4)))
	}
	return fault.Wrap(fault.Unavailable, failure, "PostgreSQL's initdb could not create the database cluster.")
}

// localeFlags are tried in order. All sort by code point and know the letters of all languages, but for the
// last, which every machine has.
func (c *Cluster) localeFlags() [][]string {
	plain := []string{"--no-locale"}
	if c.bin.Major >= 17 {
		return [][]string{{"--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C"}, plain}
	}
	return [][]string{{"--locale=C.UTF-8"}, plain}
}

// removeUnfinished removes the files of an interrupted initdb.
func (c *Cluster) removeUnfinished() {
	left, err := filepath.Glob(filepath.Join(c.layout.clusterDir(), "data.new-*"))
	if err != nil {
		return
	}
	for _, dir := range left {
		if err := os.RemoveAll(dir); err != nil {
			c.opts.Log.Warn("unfinished cluster not removed", "dir", dir, "error", err)
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
