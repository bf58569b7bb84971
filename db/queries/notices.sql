-- Notices and their read marks.

-- name: MergeNotice :execrows
-- An unread notice of the last hour with the same subject and kind takes the new text.
update notices
set times = times + 1,
    title = @title,
    body = @body,
    link = @link,
    data = @data,
    upstream = @upstream
where notices.tenant_id = @tenant_id
  and notices.id = (
      select told.id
      from notices told
      where told.tenant_id = @tenant_id and told.subject_key = @subject_key and told.kind = @kind and told.subject_key <> ''
        and told.at > now() - interval '1 hour'
        and not exists (
            select from notice_reads
            where notice_reads.tenant_id = @tenant_id and notice_reads.notice_id = told.id)
      order by told.at desc, told.id desc
      limit 1);

-- name: InsertNotice :exec
insert into notices (tenant_id, id, kind, title, body, link, subject_key, data, upstream)
values (@tenant_id, @id, @kind, @title, @body, @link, @subject_key, @data, @upstream);

-- name: DeleteOldestNotices :exec
-- The newest @newest notices stay. At most 100 rows a statement; rows locked by another transaction are skipped.
delete from notices
where notices.tenant_id = @tenant_id
  and notices.id in (
      select old.id
      from notices old
      where old.tenant_id = @tenant_id
        and old.id <= (
            select edge.id
            from notices edge
            where edge.tenant_id = @tenant_id
            order by edge.id desc
            offset @newest::integer
            limit 1)
      order by old.id
      limit 100
      for update skip locked);

-- name: Notices :many
-- Notices older than the membership count as read.
select id, at, kind, title, body, link, data, upstream, times, (
    exists (
        select from notice_reads
        where notice_reads.tenant_id = @tenant_id and notice_reads.notice_id = notices.id and notice_reads.user_id = sqlc.narg(user_id)::uuid)
    or not exists (
        select from memberships
        where memberships.tenant_id = @tenant_id and memberships.user_id = sqlc.narg(user_id)::uuid and memberships.created_at <= notices.at)
)::boolean as is_read
from notices
where tenant_id = @tenant_id
  and (sqlc.narg(before_id)::uuid is null or id < sqlc.narg(before_id))
order by id desc
limit @max_rows;

-- name: CountBadges :one
-- Open approvals and open changes. Each page runs it once, and each open event stream once a second.
select (
    select count(*)
    from approvals
    where approvals.tenant_id = @tenant_id and approvals.state = 'waiting' and approvals.expires_at > now()
) as approvals, (
    select count(*)
    from tool_changes
    where tool_changes.tenant_id = @tenant_id and tool_changes.state = 'waiting'
) as changes;

-- name: ReadNotices :execrows
-- ids null: all notices.
insert into notice_reads (tenant_id, notice_id, user_id)
select @tenant_id, notices.id, memberships.user_id
from notices
join memberships on memberships.tenant_id = notices.tenant_id and memberships.user_id = @user_id
where notices.tenant_id = @tenant_id and notices.at >= memberships.created_at
  and (sqlc.narg(ids)::uuid[] is null or notices.id = any(sqlc.narg(ids)::uuid[]))
order by notices.id
on conflict do nothing;

-- name: ApprovalSubject :one
select agents.name as agent, agents.slug as agent_slug, connectors.name as connector, connectors.slug as connector_slug
from agents
join connectors on connectors.tenant_id = agents.tenant_id and connectors.id = @connector_id
where agents.tenant_id = @tenant_id and agents.id = @agent_id::uuid;

-- name: AccountSubject :one
-- The agent is empty for a shared credential.
select connectors.id as connector_id, connectors.name as connector, connectors.slug as connector_slug,
       coalesce(agents.name, '')::text as agent, coalesce(agents.slug, '')::text as agent_slug, credentials.name as account_name
from credentials
join connectors on connectors.tenant_id = credentials.tenant_id and connectors.id = credentials.connector_id
left join agents on agents.tenant_id = credentials.tenant_id and agents.id = credentials.agent_id
where credentials.tenant_id = @tenant_id and credentials.id = @id;
