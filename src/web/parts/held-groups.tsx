/** What the brake holds: one card for each failure, with what is behind it and one act for all of it. */
import { useState } from 'preact/hooks'
import type { CountedGroup, GroupOverride } from '../../domain/brake.ts'
import type { IncidentId } from '../../domain/entry.ts'
import { groupOverrideText } from '../../domain/text/group-override.ts'
import { useEvery, useResource } from '../api/resource.ts'
import { paths } from '../api/paths.ts'
import { link } from '../router.ts'
import { counted, number } from '../words/count.ts'
import { ActButton, ActDialog, type Act } from './act.tsx'
import { orderName } from './sent-orders.ts'
import { Stamped, Time } from './text.tsx'

/** A group's members change with the journal, and its counts without it. */
const groupMs = 5_000

interface HeldWithProps {
  incident: IncidentId
  /** The brake holds it now. */
  held: boolean
  onDone: () => void
}

/** On the page of one incident: the others that the brake holds with it, each with its link, and the act for all of them. */
export function HeldWith({ incident, held, onDone }: HeldWithProps) {
  const { value, reload } = useResource<CountedGroup[]>(held ? paths.brake : null)
  useEvery(groupMs, reload)
  const shared = (value ?? []).filter(
    ({ members }) => members.length > 1 && members.some((one) => one.incident === incident),
  )
  return (
    <HeldGroups
      groups={held ? shared : []}
      onDone={() => {
        reload(0)
        onDone()
      }}
    />
  )
}

export function HeldGroups({ groups, onDone }: { groups: readonly CountedGroup[]; onDone: () => void }) {
  // Here and not in its card: the card goes when the brake opens, perhaps while someone writes in the dialog.
  const [asked, ask] = useState<Act | null>(null)
  return (
    <>
      {groups.map((group) => (
        <section key={group.scope} class="held-group" aria-labelledby={`held-${group.scope}`}>
          <header>
            <h2 id={`held-${group.scope}`}>
              {capitalised(group.title)}: {counted(group.members.length, 'host')} on hold
            </h2>
            <span class="behind">{behind(group)}</span>
          </header>
          <p>
            <Stamped text={group.message} />, since <Time at={group.trippedSince} />.
            {group.also.length > 0 && <span class="under">Also over the limit: {group.also.join(', ')}.</span>}
          </p>
          <ul aria-label="Hosts on hold">
            {group.members.map(({ host, incident, count }) => (
              <li key={incident}>
                <a href={link.incident(incident)}>{host}</a>
                {count !== null && <span class="faint"> {number(count.instances)}</span>}
              </li>
            ))}
          </ul>
          <ActButton act={overrideAll(group)} onDone={onDone} onAsk={ask} />
        </section>
      ))}
      {asked !== null && <ActDialog act={asked} onClose={() => ask(null)} onDone={onDone} />}
    </>
  )
}

function behind({ instances, running, uncounted, members }: CountedGroup): string {
  if (uncounted === members.length) return 'counting instances…'
  const all = `${counted(instances, 'instance')}, ${number(running)} running`
  return uncounted === 0 ? all : `${all}; ${counted(uncounted, 'host')} not counted yet`
}

function overrideAll({ scope, title, members, instances }: CountedGroup): Act {
  const hosts = members.map(({ host }) => host)
  const many = members.length === 1 ? 'this host' : `all ${members.length} hosts`
  return {
    title: members.length === 1 ? 'Override the brake' : `Override the brake for all ${members.length}`,
    role: 'admin',
    path: paths.overrideGroup,
    danger: true,
    body: { scope, incidents: members.map(({ incident }) => incident) },
    // Each as if it was overridden on its own page.
    gives: members.map(({ incident }) => orderName(paths.incidentAct(incident, 'override'))),
    words: {
      field: 'reason',
      label: 'Reason',
      hint: `How you know that ${many} are dead. The journal keeps it with your name.`,
    },
    effect: (
      <>
        <p>
          Lifeboat fences {many} of {title} and evacuates{' '}
          {instances === 0 ? 'what is on them' : counted(instances, 'instance')}. If they are not dead, that powers off
          what still runs.
        </p>
        <p>
          <strong>{hosts.join(', ')}</strong>
        </p>
      </>
    ),
    done: (answer) => groupOverrideText(answer as GroupOverride, members, title),
  }
}

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
