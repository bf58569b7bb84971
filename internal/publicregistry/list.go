package publicregistry

import (
	"context"
	"strings"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
)

// listEntries returns the page asked for. The gateway's own entry is the first of the first page.
func (s *Service) listEntries(ctx context.Context, reader reader, ask *request) (listDocument, error) {
	filter := store.EntryFilter{
		Agent: reader.agent, After: ask.after, Namespace: s.namespace, Search: ask.search, Since: ask.since, Limit: ask.limit + 1,
	}
	if ask.after == allSlug {
		filter.After = ""
	}
	found, err := s.readEntries(ctx, reader, filter)
	if err != nil {
		return listDocument{}, err
	}
	slugs, entries := make([]string, 0, len(found)+1), make([]entryDocument, 0, len(found)+1)
	if all := s.newAllEntry(reader.registry); ask.after == "" && s.isAllListed(all, ask) {
		slugs, entries = append(slugs, allSlug), append(entries, all)
	}
	for _, c := range found {
		slugs, entries = append(slugs, c.Slug), append(entries, s.newEntry(c))
	}
	next := ""
	if len(entries) > ask.limit {
		entries, next = entries[:ask.limit], ask.cursorAfter(slugs[ask.limit-1])
	}
	page := listDocument{Servers: make([]entryDocument, 0, len(entries)), Metadata: listMetadata{NextCursor: next}}
	for _, e := range entries {
		if ask.isMatch(e) {
			page.Servers = append(page.Servers, e)
		}
	}
	page.Metadata.Count = len(page.Servers)
	return page, nil
}

// isAllListed applies a list's filters to the gateway's own entry, as the store does to the others.
func (s *Service) isAllListed(all entryDocument, ask *request) bool {
	text := strings.ToLower(all.Server.Name + " " + all.Server.Title)
	return strings.Contains(text, strings.ToLower(ask.search)) && (ask.since == nil || !all.Meta.Official.UpdatedAt.Before(*ask.since))
}

// findEntry returns one entry. NotFound: the registry does not list it, or not in this version.
func (s *Service) findEntry(ctx context.Context, reader reader, ask *request) (entryDocument, error) {
	entry := s.newAllEntry(reader.registry)
	if ask.slug != allSlug {
		found, err := s.readEntries(ctx, reader, store.EntryFilter{Agent: reader.agent, Slug: ask.slug, Limit: 1})
		if err != nil {
			return entryDocument{}, err
		}
		if len(found) == 0 {
			return entryDocument{}, newNotFound()
		}
		entry = s.newEntry(found[0])
	}
	if !ask.isMatch(entry) {
		return entryDocument{}, newNotFound()
	}
	return entry, nil
}

// readEntries reads within the bound of reads at the same time.
func (s *Service) readEntries(ctx context.Context, reader reader, f store.EntryFilter) ([]connectors.RegistryEntry, error) {
	if err := s.reads.Acquire(ctx, reader.tenant); err != nil {
		return nil, err
	}
	defer s.reads.Release(reader.tenant)
	return s.store.Tenant(reader.tenant).Registries().Entries(ctx, reader.registry, f)
}
