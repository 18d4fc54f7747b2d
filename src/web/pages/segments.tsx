/** Segments: which hosts stand under which rules. */
import type { SegmentStatus } from '../../domain/review.ts'
import { useFresh } from '../api/fresh.ts'
import { paths } from '../api/paths.ts'
import { useResource } from '../api/resource.ts'
import { Fact, Facts } from '../parts/facts.tsx'
import { PageHead, Section, useTitle } from '../parts/page.tsx'
import { Empty, Loaded } from '../parts/states.tsx'
import { Tag } from '../parts/text.tsx'
import { link } from '../router.ts'
import { counted } from '../words/count.ts'
import { span } from '../../domain/text/span.ts'
import { verdictWord } from '../../domain/verdict.ts'
import { verdictOrder, verdictTone } from '../../domain/text/tone.ts'
import { shortHost } from '../words/short-host.ts'

export function SegmentsPage() {
  useTitle('Segments')
  const segments = useResource<SegmentStatus[]>(paths.segments)
  useFresh(15_000, segments.reload)
  return (
    <>
      <PageHead title="Segments" />
      <Loaded of={segments}>
        {(value) =>
          value.length === 0 ? (
            <Empty>No segment has a host yet.</Empty>
          ) : (
            <>
              {value.map((segment) => (
                <OneSegment key={segment.name} segment={segment} />
              ))}
            </>
          )
        }
      </Loaded>
    </>
  )
}

function OneSegment({ segment }: { segment: SegmentStatus }) {
  const { name, hosts, verdicts, openIncidents } = segment
  return (
    <Section id={`segment-${name}`} title={name} note={counted(hosts.length, 'host')}>
      <p class="outcome-counts">
        {verdictOrder
          .filter((kind) => (verdicts[kind] ?? 0) > 0)
          .map((kind) => (
            <Tag key={kind} tone={verdictTone[kind]}>
              {verdicts[kind]} {verdictWord({ kind })}
            </Tag>
          ))}
        {openIncidents.map((id) => (
          <a key={id} href={link.incident(id)}>
            {id}
          </a>
        ))}
      </p>
      <div class="panel">
        <Rules rules={segment.rules} />
      </div>
      <details>
        <summary>Its hosts</summary>
        <ul class="tiles healthy">
          {hosts.map((host) => (
            <li key={host}>
              <a class="tile plain" href={link.host(host)} title={host}>
                {shortHost(host)}
              </a>
            </li>
          ))}
        </ul>
      </details>
    </Section>
  )
}

function Rules({ rules }: { rules: SegmentStatus['rules'] }) {
  const { storage, fencing, probes, onServiceDown, onDeclaredDown, onDisabledDown, brake, maxParallelPerHost, policy } =
    rules
  const { return: back, restart } = rules
  const facts: [string, string][] = [
    ['Disks', storage === 'shared' ? 'on shared storage' : 'local: instances without a volume are left'],
    ['Fencing', fencing.length === 0 ? 'none: a person must attest each death' : fencing.join(', then ')],
    ['Probes', probes.length === 0 ? 'none: only Nova is asked' : probes.join(', ')],
    ['Brake', `${brake.maxHosts} hosts, ${Math.round(brake.maxShare * 100)} % of the segment`],
    ['Silent but alive', onServiceDown],
    ['Declared down by others', onDeclaredDown],
    ['Disabled, then silent', onDisabledDown],
    ['Stopped instances', policy.stopped],
    ['In error before', policy.errorBefore],
    ['Memory lost', policy.memoryLost === 'start' ? 'started' : 'left stopped'],
    ['Evacuations at once per host', String(maxParallelPerHost)],
    ['Return', `${back.mode}, after ${span(back.healthyMs)} healthy`],
    [
      'Guests that crash',
      `restarted ${restart.unasked === 'recover' ? 'unless the owner says no' : 'where the owner asks for it'}, ${restart.maxRestarts} times in ${span(restart.withinMs)}`,
    ],
  ]
  return (
    <Facts kind="facts grid">
      {facts.map(([term, what]) => (
        <Fact key={term} name={term}>
          {what}
        </Fact>
      ))}
    </Facts>
  )
}
