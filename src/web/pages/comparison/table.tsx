/** The facts of two incidents, each in its column; parts in which nothing differs say so. */
import {
  comparedParts,
  differs,
  type ComparedFact,
  type ComparedPart,
  type IncidentComparison,
} from '../../../domain/incident-comparison.ts'
import { comparedText, differenceText } from '../../../domain/text/compared.ts'
import { Stamped, Time } from '../../parts/text.tsx'
import { link } from '../../router.ts'

const titles: Record<ComparedPart, string> = {
  incident: 'What it was, and by which rules',
  time: 'How long each part took',
  instances: 'Outcomes of instances, and how long they were down',
  decisions: 'What was decided, and why',
  trouble: 'What failed, and what people did by hand',
}

type Place = 'first' | 'second'

/** What heads a column. Null: the record does not say. */
export function sideOf({ facts }: IncidentComparison, place: Place): { host: string | null; openedAt: string | null } {
  const told = (fact: string): string | null => {
    const value = facts.find((one) => one.part === 'incident' && one.fact === fact)?.[place] ?? null
    return value === null ? null : String(value)
  }
  return { host: told('host'), openedAt: told('opened') }
}

export function ComparedTable({ comparison, all }: { comparison: IncidentComparison; all: boolean }) {
  return (
    <table class="compared">
      <caption class="visually-hidden">What differs between the two incidents</caption>
      <thead>
        <tr>
          <th scope="col">Fact</th>
          <Side comparison={comparison} place="first" />
          <Side comparison={comparison} place="second" />
        </tr>
      </thead>
      {(Object.keys(comparedParts) as ComparedPart[]).map((part) => (
        <Part key={part} part={part} facts={comparison.facts.filter((fact) => fact.part === part)} all={all} />
      ))}
    </table>
  )
}

function Side({ comparison, place }: { comparison: IncidentComparison; place: Place }) {
  const { host, openedAt } = sideOf(comparison, place)
  const id = comparison[place]
  return (
    <th scope="col">
      <a class="primary-text" href={link.incident(id)}>
        {host ?? id}
      </a>
      <span class="under">{openedAt === null ? id : <Time at={openedAt} />}</span>
    </th>
  )
}

function Part({ part, facts, all }: { part: ComparedPart; facts: readonly ComparedFact[]; all: boolean }) {
  const shown = all ? facts : facts.filter(differs)
  return (
    <tbody>
      <tr class="part-title">
        <th scope="rowgroup" colSpan={3}>
          {titles[part]}
        </th>
      </tr>
      {shown.map((fact) => (
        <FactRow key={fact.fact} fact={fact} />
      ))}
      {shown.length === 0 && (
        <tr>
          <td colSpan={3} class="faint">
            {facts.length === 0 ? 'Neither incident has any of these.' : 'The same in both.'}
          </td>
        </tr>
      )}
    </tbody>
  )
}

function FactRow({ fact }: { fact: ComparedFact }) {
  const difference = differenceText(fact)
  return (
    <tr class={differs(fact) ? '' : 'same'}>
      <th scope="row">{fact.fact}</th>
      <td>
        <Stamped text={comparedText(fact, fact.first)} />
      </td>
      <td>
        <Stamped text={comparedText(fact, fact.second)} />
        {difference !== null && <span class="under">{difference}</span>}
      </td>
    </tr>
  )
}
