package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"slices"

	"patchbay/internal/toolsearch/searchset"
)

// maxTools bounds the tools of one source: a seeded choice of those that it has, so that none dominates.
const maxTools = 75

// collectDefinitions lists all sources and writes the set. With names it only prints how many tools these sources have.
func collectDefinitions(ctx context.Context, names []string) error {
	sources, err := readSources(listFile)
	if err != nil {
		return err
	}
	var all []searchset.Definition
	var failures error
	for i := range sources {
		s := &sources[i]
		if len(names) > 0 && !slices.Contains(names, s.Server) {
			continue
		}
		tools, err := s.listTools(ctx)
		if err != nil {
			failures = errors.Join(failures, fmt.Errorf("%s: %w", s.Server, err))
			continue
		}
		fmt.Fprintf(os.Stderr, "%s\t%s\t%d of %d\n", s.Server, s.Kind, len(tools), s.Of)
		s.Tools = len(tools)
		all = append(all, tools...)
	}
	if failures != nil || len(names) > 0 {
		return failures
	}
	slices.SortFunc(all, func(a, b searchset.Definition) int {
		return cmp.Or(cmp.Compare(a.Server, b.Server), cmp.Compare(a.Name, b.Name))
	})
	slices.SortFunc(sources, func(a, b listedServer) int { return cmp.Compare(a.Server, b.Server) })
	splitByServer(sources)
	plain := make([]searchset.Source, len(sources))
	for i, s := range sources {
		plain[i] = s.Source
	}
	fmt.Fprintf(os.Stderr, "%d servers, %d tools\n", len(sources), len(all))
	return errors.Join(searchset.WriteDefinitions(testdata, all), searchset.WriteSources(testdata, plain))
}

// listTools returns the tools of a source, each name once, at most maxTools.
func (s *listedServer) listTools(ctx context.Context) (all []searchset.Definition, err error) {
	var raw []json.RawMessage
	var tags [][]string
	switch s.Kind {
	case kindDocument:
		raw, tags, err = listDocument(*s)
	case kindFixture:
		raw, err = listFixture(*s)
	default:
		raw, err = listServer(ctx, *s)
	}
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for i, one := range raw {
		var of []string
		if tags != nil {
			of = tags[i]
		}
		d, err := readDefinition(s.Server, one, of)
		if err != nil {
			return nil, err
		}
		if !seen[d.Name] {
			seen[d.Name] = true
			all = append(all, d)
		}
	}
	if len(all) == 0 {
		return nil, errors.New("no tools")
	}
	s.Of = len(all)
	slices.SortFunc(all, func(a, b searchset.Definition) int { return cmp.Compare(a.Name, b.Name) })
	random := newRandom("operations " + s.Server)
	random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all[:min(len(all), maxTools)], nil
}

// newRandom returns a generator; its numbers depend on the name alone.
func newRandom(name string) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(name))
	return rand.New(rand.NewPCG(20261129, h.Sum64()))
}
