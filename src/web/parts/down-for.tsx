/** How long an instance was down: from its host's last heartbeat until Nova showed it running. */
import { downMs } from '../../domain/down-time.ts'
import type { InstanceLine } from '../../domain/review.ts'
import { span } from '../../domain/text/span.ts'
import { useSaid } from './ticker.ts'

type Down = Pick<InstanceLine, 'downSince' | 'upAt' | 'outcome' | 'wanted'>

export function DownFor({ line, mode }: { line: Down; mode: 'observe' | 'armed' }) {
  const down = downMs(line)
  if (down !== null) return <>{span(down)}</>
  const { downSince, outcome, wanted } = line
  if (wanted === 'stopped') return <span class="faint">was off</span>
  if (downSince === null || mode === 'observe') return <span class="faint">–</span>
  if (outcome === 'open') return <Counting since={downSince} />
  return <>{outcome === 'recovered' ? 'back, off' : 'not back'}</>
}

function Counting({ since }: { since: string }) {
  const said = useSaid((now) => span(Math.max(0, Math.round((now - Date.parse(since)) / 1_000) * 1_000)))
  return <>{said} so far</>
}
