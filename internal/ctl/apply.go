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

// ApplyCommand brings an installation to what a file says.
type ApplyCommand struct {
	Flags

	File  string `short:"f" required:"" placeholder:"FILE" help:"What there is to be, as YAML; - is the standard input."`
	Check bool   `help:"Say what differs, and change nothing. Status 1 where something does."`
	Prune bool   `help:"Delete the agents and connectors that the file does not name, too."`
	Yes   bool   `help:"Delete without asking."`
}

// Run says what differs, does it, and looks again.
func (c ApplyCommand) Run(ctx context.Context, s *session) error {
	file, err := c.read(s)
	if err != nil {
		return err
	}
	steps, err := c.plan(ctx, s, file)
	if err != nil {
		return err
	}
	if err := s.steps(steps); err != nil {
		return err
	}
	switch {
	case len(steps) == 0:
		return s.say(nil, "Nothing differs.")
	case c.Check:
		return fmt.Errorf("The installation differs from the file: %s", things(len(steps)))
	}
	if err := c.agreed(s, steps); err != nil {
		return err
	}
	return c.do(ctx, s, file, steps)
}

func (c ApplyCommand) read(s *session) (manifest.File, error) {
	name, dir := "@"+c.File, filepath.Dir(c.File)
	if c.File == "-" {
		name, dir = "-", "."
	}
	text, err := s.input(name)
	if err != nil {
		return manifest.File{}, err
	}
	return manifest.Read(text, manifest.Sources{Dir: dir, Env: s.world.Env})
}

func (c ApplyCommand) plan(ctx context.Context, s *session, file manifest.File) ([]manifest.Step, error) {
	api, err := s.client()
	if err != nil {
		return nil, err
	}
	is, err := manifest.Fetch(ctx, api, manifest.Of{
		Agents:     func(agent string) bool { return file.Agents[agent].Grants != nil },
		Connectors: func(connector string) bool { return len(file.Connectors[connector].Tools) > 0 },
	})
	if err != nil {
		return nil, err
	}
	return manifest.Plan(ctx, api, file, is, c.Prune)
}

// agreed asks before agents or connectors are deleted: their credentials and histories go with them.
func (c ApplyCommand) agreed(s *session, steps []manifest.Step) error {
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
		return fmt.Errorf("%s would be deleted, and nobody is there to be asked: say --yes. Nothing was changed", things(n))
	}
	if _, err := fmt.Fprintf(s.world.Err, "Delete %s? Type yes: ", things(n)); err != nil {
		return err
	}
	answer, err := io.ReadAll(io.LimitReader(line{s.world.In}, 100))
	if err != nil {
		return err
	}
	if strings.TrimSpace(string(answer)) != "yes" {
		return errors.New("Nothing was changed")
	}
	return nil
}

// line reads up to the end of a line.
type line struct{ in io.Reader }

func (l line) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	n, err := l.in.Read(p[:1])
	if n == 1 && p[0] == '\n' {
		return 0, io.EOF
	}
	return n, err
}

func things(n int) string {
	if n == 1 {
		return "1 thing"
	}
	return fmt.Sprintf("%d things", n)
}

// do performs the steps, and says how far it came where one fails: what was done stays done, and the next run goes on from there.
func (c ApplyCommand) do(ctx context.Context, s *session, file manifest.File, steps []manifest.Step) error {
	api, err := s.client()
	if err != nil {
		return err
	}
	for i, step := range steps {
		if err := step.Do(ctx, api); err != nil {
			return fmt.Errorf("%w\n%d of %s were done. Mend it and apply the file again: it goes on from there", err, i, things(len(steps)))
		}
	}
	left, err := c.plan(ctx, s, file)
	if err != nil {
		return fmt.Errorf("everything was done, and could not be read back: %w", err)
	}
	if len(left) > 0 {
		if err := s.steps(left); err != nil {
			return err
		}
		return fmt.Errorf("everything was done, and %s still differ: the installation keeps them in another way, or somebody else changes them", things(len(left)))
	}
	return s.say(nil, "Done: the installation is as the file says.")
}

// steps shows what is to be done.
func (s *session) steps(steps []manifest.Step) error {
	if s.flags.Output == "json" {
		return s.json(append([]manifest.Step{}, steps...))
	}
	sign := map[string]string{manifest.Create: "+", manifest.Change: "~", manifest.Delete: "-"}
	for _, step := range steps {
		if _, err := fmt.Fprintf(s.world.Out, "%s %s %s\n", sign[step.Action], step.Kind, plain(step.Name)); err != nil {
			return err
		}
		for _, f := range step.Fields {
			text := fmt.Sprintf("    %s: %s → %s", plain(f.Name), value(f.From), value(f.To))
			if step.Action == manifest.Create {
				text = fmt.Sprintf("    %s: %s", plain(f.Name), value(f.To))
			}
			if _, err := fmt.Fprintln(s.world.Out, text); err != nil {
				return err
			}
		}
	}
	return nil
}

// value is one in a line.
func value(v any) string {
	switch v := v.(type) {
	case nil:
		return "–"
	case string:
		if v == "" {
			return "–"
		}
		return plain(v)
	case float64, bool:
		return plain(fmt.Sprint(v))
	}
	return short(inJSON(v))
}

type manifestCommand struct{}

// Run writes a file that says what the installation has.
func (manifestCommand) Run(ctx context.Context, s *session) error {
	api, err := s.client()
	if err != nil {
		return err
	}
	is, err := manifest.Fetch(ctx, api, manifest.Of{})
	if err != nil {
		return err
	}
	return manifest.Write(s.world.Out, is)
}
