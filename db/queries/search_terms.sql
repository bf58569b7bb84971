-- Which words of searches led to which tools. A weight halves in 30 days.

-- name: LearnedTerms :many
select connector_id, tool, term, left_weight::double precision as weight
from (
    select connector_id, tool, term,
           weight * power(0.5, extract(epoch from now() - learned_at)::double precision / @half_life_seconds::double precision) as left_weight
    from search_terms
    where tenant_id = @tenant_id
) decayed
where left_weight >= @min_weight::double precision
order by left_weight desc, term, connector_id, tool
limit @max_rows;

-- name: AddLearnedTerms :exec
-- Terms of deleted connectors are left out, and all of a tenant that keeps no history. The tenant's row is locked: a change of its
-- history waits, and DeleteLearnedTerms then deletes these terms.
insert into search_terms (tenant_id, connector_id, tool, term, weight)
select @tenant_id, connectors.id, learned.tool, learned.term, least(learned.weight, @max_weight::double precision)
from (select unnest(@connector_ids::uuid[]) as connector_id, unnest(@tools::text[]) as tool, unnest(@terms::text[]) as term,
             unnest(@weights::double precision[]) as weight) learned
join connectors on connectors.tenant_id = @tenant_id and connectors.id = learned.connector_id
join tenants on tenants.id = @tenant_id and tenants.call_history <> 'none'
order by learned.term, connectors.id, learned.tool
for share of tenants
on conflict on constraint search_terms_pkey do update
set weight = least(@max_weight::double precision, excluded.weight + search_terms.weight
        * power(0.5, extract(epoch from now() - search_terms.learned_at)::double precision / @half_life_seconds::double precision)),
    learned_at = now();

-- name: TrimLearnedTerms :execrows
-- Deletes what is forgotten, and the least weights beyond the bounds. Rows are found by their place: a join would compare each
-- row with each where the planner has no statistics yet.
delete from search_terms
where search_terms.tenant_id = @tenant_id and search_terms.ctid = any (array(
    select ranked.ctid
    from (
        select decayed.ctid, decayed.left_weight, row_number() over heaviest as place,
               sum(octet_length(decayed.tool) + octet_length(decayed.term) + @row_bytes::integer) over heaviest as bytes
        from (
            select s.ctid, s.connector_id, s.tool, s.term,
                   s.weight * power(0.5, extract(epoch from now() - s.learned_at)::double precision / @half_life_seconds::double precision) as left_weight
            from search_terms s
            where s.tenant_id = @tenant_id
        ) decayed
        window heaviest as (order by decayed.left_weight desc, decayed.term, decayed.connector_id, decayed.tool)
    ) ranked
    where ranked.left_weight < @min_weight::double precision or ranked.place > @max_rows::bigint or ranked.bytes > @max_bytes::bigint
));

-- name: DeleteLearnedTerms :exec
-- Runs after the statement that changes the history, to delete what was stored while that one waited.
delete from search_terms
where search_terms.tenant_id = @tenant_id;
