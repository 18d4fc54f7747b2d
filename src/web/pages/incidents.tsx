/** All incidents on record, those that need a person first, then the newest, with filters that are part of the address. */
import { useCallback, useState } from 'preact/hooks'
import type { Entry } from '../../domain/entry.ts'
import type { IncidentSummary } from '../../domain/operations.ts'
import { useFresh } from '../api/fresh.ts'
import { useEntries } from '../api/live.ts'
import { paths } from '../api/paths.ts'
import { useResource } from '../api/resource.ts'
import { IncidentTable } from '../parts/incident-table.tsx'
import { PageHead, useTitle } from '../parts/page.tsx'
import { SearchField } from '../parts/search-field.tsx'
import { Empty, Loaded } from '../parts/states.tsx'
import { go, link, usePlace, withQuery } from '../router.ts'
import { counted, matches } from '../words/count.ts'
import { standing } from '../../domain/text/tone.ts'
import { isUnsettled } from '../words/unsettled.ts'

/** How many incidents the list asks for. */
const listedIncidents = 500

const states = [
  ['all', 'all'],
  ['open', 'open'],
  ['held', 'held'],
  ['trouble', 'not all back'],
  ['unsigned', 'not signed off'],
] as const

/** What the daemon itself picks out, so that none is missed for being older than the newest ones. */
const asked: Partial<Record<string, Record<string, string>>> = {
  open: { open: 'true' },
  held: { open: 'true' },
  unsigned: { unsettled: 'true' },
}

export function IncidentsPage() {
  useTitle('Incidents')
  const { query } = usePlace()
  const state = query.get('state') ?? 'all'
  const wanted = query.get('q') ?? ''
  const incidents = useResource<IncidentSummary[]>(paths.incidents({ ...asked[state], limit: String(listedIncidents) }))
  const { reload } = incidents
  const [chosen, setChosen] = useState<readonly string[]>([])
  const choose = (id: string): void =>
    setChosen(chosen.includes(id) ? chosen.filter((one) => one !== id) : [...chosen, id])
  useFresh(15_000, reload)
  useEntries(
    useCallback(
      (entries: Entry[]) => {
        if (entries.some(({ kind }) => changesList(kind))) reload()
      },
      [reload],
    ),
  )
  return (
    <>
      <PageHead title="Incidents" />
      <div class="filters" role="search" aria-label="Incidents">
        <SearchField
          label="Search incidents"
          hint="Host, segment, state…"
          value={wanted}
          onSearch={(text) => go(withQuery({ q: text }), { replace: true })}
        />
        <div class="choice" role="group" aria-label="State">
          {states.map(([one, name]) => (
            <button
              key={one}
              type="button"
              aria-pressed={state === one}
              onClick={() => go(withQuery({ state: one === 'all' ? null : one }), { replace: true })}
            >
              {name}
            </button>
          ))}
        </div>
        {incidents.value !== null && (
          <span class="count" role="status">
            {counted(incidents.value.filter((one) => fits(one, state, wanted)).length, 'incident')}
            {incidents.value.length === listedIncidents && ` of the newest ${listedIncidents}`}
          </span>
        )}
        <Chosen chosen={chosen} onDrop={() => setChosen([])} />
      </div>
      <Loaded of={incidents}>
        {(value) => {
          const shown = value.filter((one) => fits(one, state, wanted))
          if (value.length === 0 && asked[state] === undefined)
            return <Empty>No incidents: no host has died yet.</Empty>
          if (shown.length === 0) return <Empty>No incident matches.</Empty>
          return (
            <IncidentTable
              incidents={shown}
              caption="Incidents: those that need a person first, then the newest"
              choice={{ chosen, choose }}
            />
          )
        }}
      </Loaded>
    </>
  )
}

/** What was chosen stays chosen while the list is filtered otherwise: the two need not be in one. */
function Chosen({ chosen, onDrop }: { chosen: readonly string[]; onDrop: () => void }) {
  const [first, second] = chosen
  if (first === undefined) return null
  return (
    <span class="chosen" role="status">
      {second === undefined ? (
        '1 chosen: choose another to compare'
      ) : (
        <a class="button" href={link.comparison(first, second)}>
          Compare the two
        </a>
      )}
      <button type="button" class="quiet" onClick={onDrop}>
        Choose none
      </button>
    </span>
  )
}

function changesList(kind: Entry['kind']): boolean {
  return kind.startsWith('incident.') || kind === 'outcome.recorded' || kind === 'review.signed-off'
}

function fits(incident: IncidentSummary, state: string, wanted: string): boolean {
  const { ended, held, outcomes, host, segment, id } = incident
  if (state === 'open' && ended !== null) return false
  if (state === 'held' && held === null) return false
  if (state === 'unsigned' && !isUnsettled(incident)) return false
  if (state === 'trouble' && (outcomes.failed ?? 0) + (outcomes.stuck ?? 0) + (outcomes.left ?? 0) === 0) return false
  return wanted === '' || matches(`${id} ${host} ${segment} ${standing(incident).text}`.toLowerCase(), wanted)
}
