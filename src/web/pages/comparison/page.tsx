/** Two incidents side by side: what took longer, what was decided otherwise, which rules differed. */
import type { ComponentChildren } from 'preact'
import { useCallback } from 'preact/hooks'
import type { Entry } from '../../../domain/entry.ts'
import type { IncidentComparison } from '../../../domain/incident-comparison.ts'
import { useFresh } from '../../api/fresh.ts'
import { useEntries } from '../../api/live.ts'
import { paths } from '../../api/paths.ts'
import { useResource } from '../../api/resource.ts'
import { Icon } from '../../parts/icons.tsx'
import { useTitle } from '../../parts/page.tsx'
import { Loaded } from '../../parts/states.tsx'
import { go, link, usePlace, withQuery } from '../../router.ts'
import { CompareMenu, Offers } from './offers.tsx'
import { ComparedTable, sideOf } from './table.tsx'

/** @param props.other empty: nobody has said yet with which */
export function ComparisonPage({ id, other }: { id: string; other: string }) {
  useTitle('Compare two incidents')
  if (other === '' || other === id) return <Choose id={id} twice={other === id} />
  return <Compared id={id} other={other} />
}

function Choose({ id, twice }: { id: string; twice: boolean }) {
  return (
    <>
      <Head id={id} />
      <div class="panel offered">
        <p>
          {twice
            ? 'This is the same incident twice: nothing can differ. Choose another one to compare it with.'
            : 'Choose the incident to compare it with.'}
        </p>
        <Offers beside={{ id, host: null }} />
      </div>
    </>
  )
}

function Head({ id, children }: { id: string; children?: ComponentChildren }) {
  return (
    <header class="page-head">
      <p class="crumbs">
        <a href="/incidents">Incidents</a>
        <Icon name="right" />
        <a href={link.incident(id)}>{id}</a>
      </p>
      <h1>Compare two incidents</h1>
      {children}
    </header>
  )
}

function Compared({ id, other }: { id: string; other: string }) {
  const comparison = useResource<IncidentComparison>(paths.comparison(id, other))
  const { value, reload } = comparison
  useFresh(60_000, reload)
  useEntries(
    useCallback(
      (entries: Entry[]) => {
        if (entries.some(({ incident }) => incident === id || incident === other)) reload()
      },
      [id, other, reload],
    ),
  )
  const host = value === null ? null : sideOf(value, 'first').host
  return (
    <>
      <Head id={id}>
        <div class="acts toolbar">
          <CompareMenu title="Compare with another…" of={{ id, host }} />
          <button type="button" class="print" onClick={() => print()}>
            Print
          </button>
        </div>
      </Head>
      <Loaded of={comparison}>{(found) => <Inside comparison={found} />}</Loaded>
    </>
  )
}

function Inside({ comparison }: { comparison: IncidentComparison }) {
  const { query } = usePlace()
  const all = query.has('all')
  return (
    <>
      {comparison.open.length > 0 && (
        <div class="notice live">
          <strong>{stillOpen(comparison)}</strong>
          <p>Its figures still move, and this page with them. A dash may be what has not happened yet.</p>
        </div>
      )}
      <label class="toggle">
        <input
          type="checkbox"
          checked={all}
          onChange={() => go(withQuery({ all: all ? null : '1' }), { replace: true })}
        />{' '}
        Show also what is the same in both
      </label>
      <ComparedTable comparison={comparison} all={all} />
    </>
  )
}

function stillOpen(comparison: IncidentComparison): string {
  const { first, open } = comparison
  if (open.length > 1) return 'Both incidents are still open'
  const place = open[0] === first ? 'first' : 'second'
  return `The ${place} incident, of ${sideOf(comparison, place).host ?? open[0]}, is still open`
}
