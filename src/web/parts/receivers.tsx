/** Receivers of notices: those that take none, since nobody hears there what happens, and a test of one. */
import { useId, useState } from 'preact/hooks'
import type { NoticeTestResult, ReceiverHealth } from '../../domain/notice.ts'
import { post, type ApiFailure } from '../api/client.ts'
import { paths } from '../api/paths.ts'
import { refusalOf, useCaller } from '../api/session.ts'
import { counted } from '../words/count.ts'
import { Time } from './text.tsx'

export function DeadReceivers({ receivers }: { receivers: readonly ReceiverHealth[] }) {
  return (
    <>
      {receivers
        .filter(({ dead }) => dead)
        .map(({ receiver, waiting, failingSince, problem }) => (
          <div class="notice bad" key={receiver}>
            <strong>{receiver} takes no notices</strong>
            <p>
              {problem}
              {failingSince !== null && (
                <>
                  , since <Time at={failingSince} />
                </>
              )}
              .{' '}
              {waiting === 0 ? 'The next notice shows whether it does again' : `${counted(waiting, 'notice')} waiting`}.
              Try it: <code>lifeboat notice test {receiver}</code>, or on <a href="/notices">Notices</a>
            </p>
          </div>
        ))}
    </>
  )
}

/** Nothing is asked beforehand: a test changes nothing, and says so to its reader. */
export function TestButton({ receiver, onDone }: { receiver: string; onDone: () => void }) {
  const caller = useCaller()
  const [said, setSaid] = useState('')
  const [sending, setSending] = useState(false)
  const id = useId()
  const refusal = refusalOf(caller, 'operator')
  const end = (text: string): void => {
    setSending(false)
    setSaid(text)
    onDone()
  }
  const send = (): void => {
    if (refusal !== null || sending) return
    setSending(true)
    setSaid('')
    post<NoticeTestResult>(paths.testReceiver, { receiver }).then(
      ({ ok, detail }) => end(`${ok ? 'It accepted the test' : 'It refused the test'}: ${detail}`),
      (thrown: unknown) => end((thrown as ApiFailure).message),
    )
  }
  return (
    <span class="act">
      <button
        type="button"
        aria-disabled={refusal !== null}
        aria-label={`Send test to ${receiver}`}
        aria-describedby={refusal === null ? undefined : id}
        onClick={send}
      >
        {sending ? 'Sending…' : 'Send test'}
      </button>
      {refusal !== null && (
        <span id={id} class="refusal">
          {refusal}
        </span>
      )}
      <span class="under" role="status">
        {said}
      </span>
    </span>
  )
}
