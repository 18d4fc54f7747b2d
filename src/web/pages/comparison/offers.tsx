/** What an incident can be compared with, as links: the other incidents of its host, then the newest. */
import { useState } from 'preact/hooks'
import type { IncidentSummary } from '../../../domain/operations.ts'
import { useFresh } from '../../api/fresh.ts'
import { paths } from '../../api/paths.ts'
import { useResource } from '../../api/resource.ts'
import { Menu } from '../../parts/menu.tsx'
import { Empty, Failed, Loaded } from '../../parts/states.tsx'
import { Time } from '../../parts/text.tsx'
import { link } from '../../router.ts'
import { standing } from '../../../domain/text/tone.ts'
import { mostOffered, offeredBeside, type OfferedBeside } from './offered.ts'

/** Of the newest so many are looked at, most of which may be of the host itself. Fewer leave less to offer. */
const newestAsked = 50

export function CompareMenu({ title, of }: { title: string; of: OfferedBeside }) {
  const [opened, setOpened] = useState(false)
  return (
    <Menu title={title} onOpen={() => setOpened(true)}>
      {opened && <Offers beside={of} />}
    </Menu>
  )
}

export function Offers({ beside }: { beside: OfferedBeside }) {
  const { id, host } = beside
  // One more than is offered: the incident itself is among them.
  const ofHost = useResource<IncidentSummary[]>(
    host === null ? null : paths.incidents({ host, limit: String(mostOffered + 1) }),
  )
  const newest = useResource<IncidentSummary[]>(paths.incidents({ limit: String(newestAsked) }))
  useFresh(60_000, newest.reload)
  useFresh(60_000, ofHost.reload)
  return (
    <Loaded of={newest}>
      {(listed) => {
        if (ofHost.value === null && ofHost.failure !== null) return <Failed of={ofHost.failure} />
        const offers = offeredBeside(beside, [...(ofHost.value ?? []), ...listed])
        if (offers.ofHost.length + offers.others.length === 0)
          return <Empty>No other incident is on record: there is nothing to compare with.</Empty>
        const sameHost = offers.ofHost[0]?.host
        return (
          <>
            {sameHost !== undefined && <OfferList title={`Of ${sameHost}`} of={id} offered={offers.ofHost} />}
            {offers.others.length > 0 && <OfferList title="The newest others" of={id} offered={offers.others} />}
            <p class="under">
              To compare any two, choose them under <a href="/incidents">Incidents</a>.
            </p>
          </>
        )
      }}
    </Loaded>
  )
}

function OfferList({ title, of, offered }: { title: string; of: string; offered: readonly IncidentSummary[] }) {
  return (
    <>
      <p class="offers-title">{title}</p>
      <ul class="offers" aria-label={title}>
        {offered.map((incident) => {
          const { id, host, process, crashed, openedAt } = incident
          return (
            <li key={id}>
              <a href={link.comparison(of, id)}>
                {host} {process ?? crashed?.name}
                <span class="under">
                  <Time at={openedAt} /> · {standing(incident).text}
                </span>
              </a>
            </li>
          )
        })}
      </ul>
    </>
  )
}
