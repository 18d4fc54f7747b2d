/** The journal itself: every entry with filters that are part of the address, and the proof that none was altered. */
import { useCallback, useState } from 'preact/hooks'
import type { Entry } from '../../domain/entry.ts'
import type { ChainProof, JournalPage } from '../../domain/review.ts'
import { get, type ApiFailure } from '../api/client.ts'
import { useEntries } from '../api/live.ts'
import { paths } from '../api/paths.ts'
import { useResource, type Resource } from '../api/resource.ts'
import { announce } from '../parts/announce.tsx'
import { Fact, Facts } from '../parts/facts.tsx'
import { PageHead, useScreenfulFirst, useTitle } from '../parts/page.tsx'
import { Empty, Loaded } from '../parts/states.tsx'
import { Copy, Data, Stamped, Tag, Time } from '../parts/text.tsx'
import { go, link, usePlace, withQuery } from '../router.ts'
import { counted, number } from '../words/count.ts'
import { inputOf, isoOf } from '../words/picked-time.ts'
import { span } from '../../domain/text/span.ts'
import { kindGroups } from './journal-kinds.ts'

/** How many entries a page of the journal has. */
const journalPage = 100

/** The whole journal is read, and one of years takes minutes. Shorter gives up on a walk that is well. */
const verifyLimitMs = 1_800_000

export function JournalBrowser() {
  useTitle('Journal')
  const { query } = usePlace()
  const page = useResource<JournalPage>(paths.journal(asked(query)))
  const one = query.get('seq')
  return (
    <>
      <PageHead title="Journal">
        {page.value !== null && (
          <span class="head-facts">
            {number(page.value.head.seq)} entries, head{' '}
            <Copy
              text={page.value.head.hash}
              what="hash of the newest entry"
              shown={page.value.head.hash.slice(0, 12)}
            />
          </span>
        )}
        <span class="push">
          <Verify />
        </span>
      </PageHead>
      <Filters query={query} />
      {one === null && query.get('after') === null && <NewEntries page={page} />}
      {one !== null && (
        <p class="under">
          From entry #{one} on. <a href={withQuery({ seq: null })}>The newest</a>
        </p>
      )}
      <Loaded of={page}>{(value) => <Entries page={value} />}</Loaded>
    </>
  )
}

/** What was written since is offered, not shown by itself: what someone reads must not move away under their eyes. */
function NewEntries({ page }: { page: Resource<JournalPage> }) {
  const head = page.value?.head.seq ?? null
  const [newest, setNewest] = useState(0)
  useEntries(useCallback((entries: Entry[]) => setNewest((known) => Math.max(known, entries.at(-1)?.seq ?? 0)), []))
  if (head === null || newest <= head) return null
  return (
    <p>
      <button type="button" class="quiet" onClick={() => page.reload(0)}>
        {counted(newest - head, 'entry', 'entries')} written since: read again
      </button>
    </p>
  )
}

/** What the daemon is asked, from what the address says. */
function asked(query: URLSearchParams): Record<string, string> {
  const wanted: Record<string, string> = { limit: String(journalPage) }
  for (const name of ['incident', 'host', 'instance', 'actor']) {
    const value = query.get(name)
    if (value !== null && value !== '') wanted[name] = value
  }
  const kinds = kindGroups[query.get('kinds') ?? '']
  if (kinds !== undefined) wanted['kinds'] = kinds.join(',')
  for (const name of ['since', 'until']) {
    const at = new Date(query.get(name) ?? '')
    if (!Number.isNaN(at.getTime())) wanted[name] = at.toISOString()
  }
  const seq = Number(query.get('seq'))
  const afterSeq = query.get('after')
  if (seq > 0) wanted['after'] = String(seq - 1)
  else {
    wanted['newestFirst'] = 'true'
    if (afterSeq !== null) wanted['after'] = afterSeq
  }
  return wanted
}

/** The address has UTC, so that it means the same to someone in another zone; the field shows local time. */
function momentOf(iso: string | null): string {
  const ms = Date.parse(iso ?? '')
  return Number.isNaN(ms) ? '' : inputOf(ms, 'local')
}

function Filters({ query }: { query: URLSearchParams }) {
  const set = (fields: Record<string, string | null>): void =>
    go(withQuery({ after: null, seq: null, ...fields }), { replace: true })
  const text = (name: string, label: string, hint: string) => (
    <label>
      <span>{label}</span>
      <input
        type="text"
        placeholder={hint}
        value={query.get(name) ?? ''}
        onChange={(event) => set({ [name]: event.currentTarget.value.trim() })}
      />
    </label>
  )
  const time = (name: string, label: string) => (
    <label>
      <span>{label}</span>
      <input
        type="datetime-local"
        value={momentOf(query.get(name))}
        onChange={(event) => set({ [name]: isoOf(event.currentTarget.value, 'local') })}
      />
    </label>
  )
  const any = ['kinds', 'host', 'instance', 'incident', 'actor', 'since', 'until'].some(
    (name) => query.get(name) !== null,
  )
  return (
    <div class="filters labelled" role="search" aria-label="Journal">
      <label>
        <span>What</span>
        <select value={query.get('kinds') ?? ''} onChange={(event) => set({ kinds: event.currentTarget.value })}>
          <option value="">everything</option>
          {Object.keys(kindGroups).map((name) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </select>
      </label>
      {text('host', 'Host', 'cmp01')}
      {text('instance', 'Instance', 'its name or UUID')}
      {text('incident', 'Incident', 'its id')}
      {text('actor', 'By', 'daemon, operator:ann')}
      {time('since', 'From')}
      {time('until', 'To')}
      {any && (
        <button type="button" class="quiet" onClick={() => go('/journal')}>
          Show all
        </button>
      )}
    </div>
  )
}

function Entries({ page }: { page: JournalPage }) {
  const shown = useScreenfulFirst(page.entries)
  if (page.entries.length === 0) return <Empty>No entry matches.</Empty>
  const older = page.next === null ? null : withQuery({ after: String(page.next), seq: null })
  const last = page.entries.at(-1)
  const wanted = new URLSearchParams(location.search).get('seq')
  const forward = wanted !== null
  return (
    <>
      <ol class="entries">
        {shown.map((entry) => (
          <EntryItem key={`${entry.seq} ${wanted ?? ''}`} entry={entry} open={String(entry.seq) === wanted} />
        ))}
      </ol>
      <nav class="pager" aria-label="Pages of the journal">
        <a href={withQuery({ after: null, seq: null })}>Newest</a>
        {older !== null && !forward && <a href={older}>Older</a>}
        {older !== null && forward && <a href={withQuery({ seq: String((last?.seq ?? 0) + 1) })}>Newer</a>}
      </nav>
    </>
  )
}

function EntryItem({ entry, open }: { entry: JournalPage['entries'][number]; open: boolean }) {
  const { seq, at, kind, actor, host, incident, instance, step, sentence, data, hash, prevHash } = entry
  const [seen, setSeen] = useState(open)
  return (
    <li id={`entry-${seq}`}>
      <details open={seen} onToggle={(event) => setSeen(event.currentTarget.open)}>
        <summary>
          <span class="seq">#{seq}</span>
          <Time at={at} />
          <code>{kind}</code>
          <span class="told">
            {host !== null && <strong>{host} </strong>}
            <Stamped
              text={
                (instance === null ? sentence : sentence?.replace(`${instance}: `, `${instance.slice(0, 8)} `)) ?? ''
              }
            />
          </span>
          {actor !== 'daemon' && <Tag tone="plain">{actor}</Tag>}
        </summary>
        {seen && (
          <div class="entry-inside">
            <Facts kind="facts grid">
              {incident !== null && (
                <Fact name="Incident">
                  <a href={link.incident(incident)}>{incident}</a>
                </Fact>
              )}
              {instance !== null && (
                <Fact name="Instance">
                  {incident === null ? instance : <a href={link.instance(incident, instance)}>{instance}</a>}
                </Fact>
              )}
              {step !== null && <Fact name="Step">{step}</Fact>}
              <Fact name="Hash">
                <Copy text={hash} what="hash" shown={`${hash.slice(0, 16)}…`} />
                <span class="under">
                  after <Copy text={prevHash} what="hash before" shown={`${prevHash.slice(0, 16)}…`} />
                </span>
              </Fact>
            </Facts>
            <Data value={data} label={`Entry ${seq}`} />
            <p>
              <a href={link.journal({ seq: String(seq) })}>Link to this entry</a>
            </p>
          </div>
        )}
      </details>
    </li>
  )
}

function Verify() {
  const [state, setState] = useState<'idle' | 'running' | ChainProof | ApiFailure>('idle')
  const verify = (): void => {
    setState('running')
    get<ChainProof>(paths.verify, { limitMs: verifyLimitMs }).then(
      (proof) => {
        setState(proof)
        announce(proof.broken === null ? 'The chain is intact' : `The chain is broken at entry ${proof.broken.seq}`)
      },
      (thrown: unknown) => setState(thrown as ApiFailure),
    )
  }
  return (
    <span class="verify">
      {typeof state === 'object' && <Verified state={state} />}
      <button type="button" disabled={state === 'running'} onClick={verify}>
        {state === 'running' ? 'Verifying…' : 'Verify the chain'}
      </button>
    </span>
  )
}

function Verified({ state }: { state: ChainProof | ApiFailure }) {
  if (state instanceof Error) return <Tag tone="bad">{state.message}</Tag>
  if (state.broken !== null)
    return (
      <Tag tone="bad">
        broken at #{state.broken.seq}: {state.broken.problem}
      </Tag>
    )
  return (
    <Tag tone="good">
      {number(state.entries)} entries hold, in {span(state.tookMs)}
    </Tag>
  )
}
