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

// profileSeconds is how long each profile takes.
const profileSeconds = 10

// profileOurs makes calls of one kind after the other, and has Patchbay write down where its CPU goes.
func (o options) profileOurs(ctx context.Context) error {
	if o.profile == "" {
		return errors.New("name a folder with -profile")
	}
	b, err := o.begin(ctx)
	if err != nil {
		return err
	}
	defer b.end()
	for _, t := range slices.Concat(b.wanted("call", calls), b.wanted("relay", relays), b.wanted("list", []task{lists[20]})) {
		if _, err := b.load.run(ctx, b.ours(20), t, 1000); err != nil {
			return err
		}
		name := strings.NewReplacer("/", "-", " ", "-", ",", "").Replace(t.name) + ".pprof"
		done := make(chan error, 1)
		go func() { done <- b.fetch(ctx, fmt.Sprintf("profile?seconds=%d", profileSeconds), name) }()
		for going := true; going; {
			if _, err := b.load.run(ctx, b.ours(20), t, 1000); err != nil {
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
	return b.fetch(ctx, "allocs", "allocs.pprof")
}

// fetch keeps one of Patchbay's profiles in a file.
func (b *bench) fetch(ctx context.Context, what, name string) error {
	text, err := b.profileText(ctx, what)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(b.profile, name), []byte(text), 0o600)
}
