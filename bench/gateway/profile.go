package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// profileSeconds is the length of a profile.
const profileSeconds = 10

// profileOurs makes calls of each kind while a CPU profile of Patchbay is taken.
func (o options) profileOurs(ctx context.Context) error {
	if o.profile == "" {
		return errors.New("name a folder with -profile")
	}
	b, err := o.startBench(ctx)
	if err != nil {
		return err
	}
	defer b.stopAll()
	for _, t := range slices.Concat(b.filterKinds("call", callKinds), b.filterKinds("relay", relayKinds), b.filterKinds("api", apiKinds), b.filterKinds("list", []callKind{listKinds[20]})) {
		side := b.patchbaySide(20)
		if t.operation != "" {
			side = b.apiSide(t.operation)
		}
		if _, err := b.load.run(ctx, side, t, 1000); err != nil {
			return err
		}
		name := strings.NewReplacer("/", "-", " ", "-", ",", "").Replace(t.name) + ".pprof"
		done := make(chan error, 1)
		go func() { done <- b.saveProfile(ctx, fmt.Sprintf("profile?seconds=%d", profileSeconds), name) }()
		for going := true; going; {
			if _, err := b.load.run(ctx, side, t, 1000); err != nil {
				return err
			}
			select {
			case err := <-done:
				if err != nil {
					return err
				}
				going = false
			default:
			}
		}
	}
	return b.saveProfile(ctx, "allocs", "allocs.pprof")
}

// saveProfile stores a profile of Patchbay in a file.
func (b *bench) saveProfile(ctx context.Context, what, name string) error {
	text, err := b.profileText(ctx, what)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(b.profile, name), []byte(text), 0o600)
}
