package ctl

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/term"

	"patchbay/internal/manifest"
)

// ApplyCommand makes an installation match a manifest.
type ApplyCommand struct {
	Flags

	File  string `short:"f" required:"" placeholder:"FILE" help:"The desired configuration, as YAML; - for standard input."`
	Check bool   `help:"Print differences without changing anything. Exits with 1 if there are any."`
	Prune bool   `help:"Also delete agents and connectors that are not in the file."`
	Yes   bool   `help:"Delete without asking."`

	Confirm bool `help:"Move connectors to another origin even if that deletes credentials. Otherwise the API refuses and lists them."`
}

// Run prints the differences, applies them and verifies the result.
func (c ApplyCommand) Run(ctx context.Context, s *session) error {
	file, err := c.readManifest(s)
	if err != nil {
		return err
	}
	steps, err := c.planSteps(ctx, s, file)
	if err != nil {
		return err
	}
	if err := s.steps(steps); err != nil {
		return err
	}
	switch {
	case len(steps) == 0:
		return s.printSentence(nil, "No changes.")
	case c.Check:
		return fmt.Errorf("The installation differs from the file: %s", countThings(len(steps)))
	}
	if err := c.confirmDeletions(s, steps); err != nil {
		return err
	}
	return c.applySteps(ctx, s, file, steps)
}

func (c ApplyCommand) readManifest(s *session) (manifest.File, error) {
	name, dir := "@"+c.File, filepath.Dir(c.File)
	if c.File == "-" {
		name, dir = "-", "."
	}
	text, err := s.readInputUpTo(name, manifest.MaxBytes)
	if err != nil {
		return manifest.File{}, err
	}
	return manifest.Read(text, manifest.Sources{Dir: dir, Env: s.world.Env})
}

func (c ApplyCommand) planSteps(ctx context.Context, s *session, file manifest.File) ([]manifest.Step, error) {
	api, err := s.openClient()
	if err != nil {
		return nil, err
	}
	is, err := manifest.Fetch(ctx, api, manifest.Scope{
		Agents:     func(agent string) bool { return file.Agents[agent].Grants != nil },
		Connectors: func(connector string) bool { return len(file.Connectors[connector].Tools) > 0 },
		APIs:       func(connector string) bool { return file.Connectors[connector].API != nil },
		Accounts:   func(string) bool { return false }, // for a manifest that is written
	})
	if err != nil {
		return nil, err
	}
	return manifest.Plan(ctx, api, file, is, manifest.Options{Prune: c.Prune, ConfirmMoves: c.Confirm})
}

// confirmDeletions asks before agents or connectors are deleted with their credentials and history.
func (c ApplyCommand) confirmDeletions(s *session, steps []manifest.Step) error {
	n := 0
	for _, step := range steps {
		if step.Action == manifest.Delete && step.Kind != "grant" {
			n++
		}
	}
	if n == 0 || c.Yes {
		return nil
	}
	if file, ok := s.world.In.(*os.File); c.File == "-" || !ok || !term.IsTerminal(int(file.Fd())) { //nolint:gosec // a file descriptor fits
		return fmt.Errorf("This would delete %s. Use --yes without a terminal. Nothing was changed", countThings(n))
	}
	if _, err := fmt.Fprintf(s.world.Err, "Delete %s? Type yes: ", countThings(n)); err != nil {
		return err
	}
	answer, err := io.ReadAll(io.LimitReader(lineReader{s.world.In}, 100))
	if err != nil {
		return err
	}
	if strings.TrimSpace(string(answer)) != "yes" {
		return errors.New("Nothing was changed")
	}
	return nil
}

// lineReader reads to the end of a line.
type lineReader struct{ in io.Reader }

func (l lineReader) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	n, err := l.in.Read(p[:1])
	if n == 1 && p[0] == '\n' {
		return 0, io.EOF
	}
	return n, err
}

func countThings(n int) string {
	if n == 1 {
		return "1 item"
	}
	return fmt.Sprintf("%d items", n)
}

// applySteps performs the steps and reports how many succeeded before a failure. The next run continues from
// there.
func (c ApplyCommand) applySteps(ctx context.Context, s *session, file manifest.File, steps []manifest.Step) error {
	api, err := s.openClient()
	if err != nil {
		return err
	}
	for i, step := range steps {
		if err := step.Do(ctx, api); err != nil {
			return fmt.Errorf("%w\n%d of %s were applied. Fix the error and apply the file again to continue", err, i, countThings(len(steps)))
		}
	}
	left, err := c.planSteps(ctx, s, file)
	if err != nil {
		return fmt.Errorf("all changes were applied, but reading them back failed: %w", err)
	}
	if len(left) > 0 {
		if err := s.steps(left); err != nil {
			return err
		}
		return fmt.Errorf("all changes were applied, but %s still differ: the installation normalizes them, or someone else changes them", countThings(len(left)))
	}
	return s.printSentence(nil, "Done: the installation matches the file.")
}

// steps prints the planned steps.
func (s *session) steps(steps []manifest.Step) error {
	if s.flags.Output == "json" {
		return s.printJSON(append([]manifest.Step{}, steps...))
	}
	sign := map[string]string{manifest.Create: "+", manifest.Change: "~", manifest.Delete: "-"}
	for _, step := range steps {
		if _, err := fmt.Fprintf(s.world.Out, "%s %s %s\n", sign[step.Action], step.Kind, escapeText(step.Name)); err != nil {
			return err
		}
		for _, f := range step.Fields {
			text := fmt.Sprintf("    %s: %s → %s", escapeText(f.Name), formatValue(f.From), formatValue(f.To))
			if step.Action == manifest.Create {
				text = fmt.Sprintf("    %s: %s", escapeText(f.Name), formatValue(f.To))
			}
			if _, err := fmt.Fprintln(s.world.Out, text); err != nil {
				return err
			}
		}
	}
	return nil
}

func formatValue(v any) string {
	switch v := v.(type) {
	case nil:
		return "–"
	case string:
		if v == "" {
			return "–"
		}
		return escapeText(v)
	case float64, bool:
		return escapeText(fmt.Sprint(v))
	}
	return shorten(toJSON(v))
}

type manifestCommand struct{}

// Run writes a manifest of the installation.
func (manifestCommand) Run(ctx context.Context, s *session) error {
	api, err := s.openClient()
	if err != nil {
		return err
	}
	is, err := manifest.Fetch(ctx, api, manifest.Scope{})
	if err != nil {
		return err
	}
	return manifest.Write(s.world.Out, is)
}
