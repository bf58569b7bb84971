package operator

import (
	"context"
	"fmt"

	"patchbay/internal/config"
	"patchbay/internal/operator/support"
)

// SupportBundleCommand collects diagnostics.
type SupportBundleCommand struct {
	config.ServerFlags
	config.DatabaseFlags
	config.LogFlags
	File string `placeholder:"PATH" help:"Output file, must not exist; - for standard output. Unset: patchbay-support-TIME.tar.gz in the current directory."`
}

// Help returns the text below the flags.
func (SupportBundleCommand) Help() string {
	return "Collects diagnostics without secrets: version, settings (for secrets, only whether they are set), " +
		"doctor results, row counts and queues, and the metrics and profiles of a running server with PATCHBAY_PRIVATE_ADDR. Run it with the server's environment. Review it before sending: " +
		"it contains names of hosts and connectors."
}

// Run writes the bundle. What cannot be collected is listed in it and is no failure, because a bundle is made
// when something is wrong.
func (c SupportBundleCommand) Run(ctx context.Context, p IO) error {
	b := support.Collect(ctx, support.Options{
		Server: c.ServerFlags, Database: c.DatabaseFlags, Log: c.LogFlags, Environ: p.Environ, Version: p.Version,
	})
	if c.File == "-" {
		return b.Write(p.Stdout)
	}
	name := c.File
	if name == "" {
		name = b.FileName()
	}
	file, err := newFile(name)
	if err != nil {
		return err
	}
	if err := b.Write(file); err != nil {
		_ = file.Close()
		return fmt.Errorf("write %s: %w", name, err)
	}
	if err := file.Close(); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	p.printLine("%s", name)
	return nil
}
