/** Receivers of notices that take none: while one is dead, nobody hears there what happens. */
import type { ReceiverHealth } from '../../domain/notice.ts'
import { counted } from '../words/count.ts'
import { Time } from './text.tsx'

/** Those that must be mended. */
export function deadAmong(receivers: readonly ReceiverHealth[]): ReceiverHealth[] {
  return receivers.filter(({ dead }) => dead)
}

export function DeadReceivers({ receivers }: { receivers: readonly ReceiverHealth[] }) {
  return (
    <>
      {deadAmong(receivers).map(({ receiver, waiting, failingSince, problem }) => (
        <div class="notice bad" key={receiver}>
          <strong>{receiver} takes no notices</strong>
          <p>
            {problem}
            {failingSince !== null && (
              <>
                , since <Time at={failingSince} />
              </>
            )}
            . {waiting === 0 ? 'The next notice shows whether it does again' : `${counted(waiting, 'notice')} waiting`}.
            Try it: <code>lifeboat notice test {receiver}</code>
          </p>
        </div>
      ))}
    </>
  )
}
