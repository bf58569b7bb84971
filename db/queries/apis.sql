-- name: APIDocument :one
select is_fetched, etag, hash, body, read_at, seen
from api_documents
where tenant_id = @tenant_id and connector_id = @connector_id;

-- name: PutAPIDocument :exec
insert into api_documents (tenant_id, connector_id, is_fetched, etag, hash, body)
values (@tenant_id, @connector_id, @is_fetched, @etag, @hash, @body)
on conflict on constraint api_documents_pkey do update
set is_fetched = excluded.is_fetched,
    etag = excluded.etag,
    hash = excluded.hash,
    body = excluded.body,
    read_at = now();

-- name: RefreshAPIDocument :execrows
update api_documents
set etag = @etag, hash = @hash, body = @body, read_at = now()
where tenant_id = @tenant_id and connector_id = @connector_id and is_fetched and hash = @old_hash;

-- name: SetSeenOperations :execrows
update api_documents set seen = @seen::text[]
where tenant_id = @tenant_id and connector_id = @connector_id;

-- name: APIDocumentInfo :one
select is_fetched, etag, hash, length(body)::integer as size, read_at, seen
from api_documents
where tenant_id = @tenant_id and connector_id = @connector_id;

-- name: APITools :many
select key, endpoint, filter, max_pages, scopes, annotations, name
from api_tools
where tenant_id = @tenant_id and connector_id = @connector_id
order by key;

-- name: PutAPITool :exec
insert into api_tools (tenant_id, connector_id, key, endpoint, filter, max_pages, scopes, annotations, name)
values (@tenant_id, @connector_id, @key, @endpoint, @filter, @max_pages, @scopes, @annotations, @name)
on conflict on constraint api_tools_pkey do update
set endpoint = excluded.endpoint,
    filter = excluded.filter,
    max_pages = excluded.max_pages,
    scopes = excluded.scopes,
    annotations = excluded.annotations,
    name = excluded.name;

-- name: NameAPITools :execrows
update api_tools t set name = n.name
from (select unnest(@keys::text[]) as key, unnest(@names::text[]) as name) n
where t.tenant_id = @tenant_id and t.connector_id = @connector_id and t.key = n.key and t.name = '' and t.endpoint is null;

-- name: DeleteAPITools :execrows
delete from api_tools
where tenant_id = @tenant_id and connector_id = @connector_id and key = any(@keys::text[]);

-- name: APIScopes :many
select distinct unnest(scopes)::text as scope
from api_tools
where tenant_id = @tenant_id and connector_id = @connector_id
order by scope;
