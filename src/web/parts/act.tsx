/**
 * An act: a button that says why it cannot be pressed, and a dialog that says what will happen and asks for a reason. The
 * person's name is the login's: nobody types it.
 */
import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import type { Role } from '../../domain/review.ts'
import { span } from '../../domain/text/span.ts'
import { post, type ApiFailure } from '../api/client.ts'
import { after } from '../browser-clock.ts'
import { refusalOf, useCaller } from '../api/session.ts'
import { announce } from './announce.tsx'
import { Dialog } from './dialog.tsx'
import { orderName, sendOrders, useSent } from './sent-orders.ts'
import { Stamped } from './text.tsx'
import { OrderTimesFields, usualTimes, type OrderTimes, type TimesAsked } from './order-times.tsx'

export interface Act {
  /** On the button: "Cancel this incident". */
  title: string
  /** The same with what it is done to, over the dialog and on the button that does it. */
  inFull?: string
  role: Role
  /** What will happen, before it does. */
  effect: ComponentChildren
  /** The same in a few words, beside a button that is pressed first. */
  consequence?: string
  path: string
  /** The name of the field for the person's words, and how it is asked. */
  words?: { field: string; label: string; hint?: string; optional?: boolean }
  /** Other fields of the body. */
  body?: Record<string, unknown>
  /** Asks when it ends, or when it begins and ends. */
  times?: TimesAsked
  /** Fields of its own; each change tells what they make of the body. */
  fields?: (tell: (body: Record<string, unknown>) => void) => ComponentChildren
  danger?: boolean
  /** Given again at once it is another one: a second note, the maintenance of another host. */
  repeats?: boolean
  /** The orders that it gives at once, by `orderName`; its own alone when left out. */
  gives?: readonly string[]
  /** Why it makes no sense now; null: it does. */
  senseless?: string | null
  /** Said when it is done, from the answer where that decides. */
  done: string | ((answer: unknown) => string)
}

/**
 * An order that has had no answer for so long may be left: until then its dialog stays, for the page behind would look as if
 * nothing had been ordered. Shorter alarms people about a busy daemon; longer keeps them from the page where they would see.
 */
const answerDueMs = 15_000

/** What is shown is from before. */
const sentWords = 'Sent. The page does not show it yet'

function ordersOf({ path, body, gives, repeats }: Act): readonly string[] {
  return repeats === true ? [] : (gives ?? [orderName(path, body)])
}

const defaultWords = { field: 'reason', label: 'Reason', hint: 'The journal keeps it with your name.' }

export function ActButton({
  act,
  onDone,
  primary,
  onAsk,
}: {
  act: Act
  onDone: (answer: unknown) => void
  primary?: boolean
  /** Shows the dialog itself, where this button may go while someone writes in it. */
  onAsk?: (act: Act) => void
}) {
  const caller = useCaller()
  // As it was when it was asked for: the page moves on behind the dialog, and one act must not turn into another in it.
  const [asked, setAsked] = useState<Act | null>(null)
  const id = useId()
  const senseless = act.senseless ?? null
  const sent = useSent(senseless === null ? ordersOf(act) : [])
  const refusal = refusalOf(caller, act.role) ?? senseless ?? (sent ? sentWords : null)
  const kind = act.danger === true ? 'danger' : primary === true ? 'primary' : ''
  return (
    <span class="act">
      <button
        type="button"
        class={kind}
        aria-disabled={refusal !== null}
        aria-describedby={refusal === null ? undefined : id}
        title={refusal ?? undefined}
        onClick={() => refusal === null && (onAsk ?? setAsked)(act)}
      >
        {act.title}
      </button>
      {refusal !== null && (
        <span id={id} class="refusal">
          {refusal}
        </span>
      )}
      {asked !== null && <ActDialog act={asked} onClose={() => setAsked(null)} onDone={onDone} />}
    </span>
  )
}

/** What someone typed and did not send, by person and order: Escape, pressed too soon, must not cost them their words. */
const drafts = new Map<string, string>()

export function ActDialog({
  act,
  onClose,
  onDone,
}: {
  act: Act
  onClose: () => void
  onDone: (answer: unknown) => void
}) {
  const caller = useCaller()
  const words = act.words ?? defaultWords
  const draft = `${caller?.name ?? ''} ${orderName(act.path, act.body)}`
  const [text, setText] = useState(drafts.get(draft) ?? '')
  const [times, setTimes] = useState<OrderTimes>(usualTimes)
  const [own, setOwn] = useState<Record<string, unknown>>({})
  const [sending, setSending] = useState(false)
  const [late, setLate] = useState(false)
  const [failure, setFailure] = useState<ApiFailure | null>(null)
  const id = useId()
  const left = useRef(false)
  useEffect(() => () => void (left.current = true), [])
  useEffect(() => (sending ? after(answerDueMs, () => setLate(true)) : undefined), [sending])
  const maybeDone = failure?.unknown === true || late
  const optional = 'optional' in words && words.optional
  const send = (event: Event): void => {
    event.preventDefault()
    if (sending) return
    setSending(true)
    setFailure(null)
    const ordered = act.times === undefined ? {} : times
    const orders = sendOrders(ordersOf(act))
    // Someone else may have logged in in another tab: nothing is done in their name.
    const by = caller === null ? {} : { by: caller.name }
    post<unknown>(act.path, { ...act.body, ...own, ...ordered, ...by, [words.field]: text.trim() }).then(
      (answer) => {
        orders.taken()
        drafts.delete(draft)
        announce(typeof act.done === 'string' ? act.done : act.done(answer), { seen: true })
        if (!left.current) onClose()
        onDone(answer)
      },
      (thrown: unknown) => {
        const refused = thrown as ApiFailure
        orders.refused()
        setSending(false)
        setLate(false)
        setFailure(refused)
        if (left.current) announce(`${act.title}: ${refused.message}`, { seen: true })
        // Whether it was done after all is seen on the page behind, once that is loaded again.
        if (refused.unknown) onDone(undefined)
      },
    )
  }
  return (
    <Dialog title={act.inFull ?? act.title} onClose={onClose} stays={sending && !late}>
      <form onSubmit={send}>
        <div class="effect">{act.effect}</div>
        {act.fields?.(setOwn)}
        {act.times !== undefined && <OrderTimesFields asked={act.times} onChange={setTimes} />}
        <div class="field">
          <label for={id}>
            {words.label}
            {optional && <span class="faint"> (optional)</span>}
          </label>
          <textarea
            id={id}
            rows={3}
            required={!optional}
            maxLength={4_000}
            value={text}
            autoFocus={act.fields === undefined}
            aria-describedby={`${id}-hint`}
            onInput={(event) => {
              setText(event.currentTarget.value)
              drafts.set(draft, event.currentTarget.value)
            }}
          />
          <p id={`${id}-hint`} class="hint">
            {words.hint ?? defaultWords.hint}
          </p>
        </div>
        {late && (
          <div class="notice bad" role="alert">
            <strong>It may still be done</strong>
            <p>
              Lifeboat has not answered for {span(answerDueMs)}. The order may still be carried out. Check the page or
              the journal before you repeat it
            </p>
          </div>
        )}
        {failure !== null && (
          <div class="notice bad" role="alert">
            <strong>{failure.unknown ? 'It may have been done' : 'Not done'}</strong>
            <p>
              <Stamped text={failure.message} />
            </p>
          </div>
        )}
        <footer>
          <span class="faint">as {caller?.name ?? 'nobody'}</span>
          <button type="button" class="quiet" disabled={sending && !late} onClick={onClose}>
            {maybeDone ? 'Close' : 'Do nothing'}
          </button>
          <button type="submit" class={act.danger === true ? 'danger' : 'primary'} disabled={sending}>
            {sending ? 'Sending…' : (act.inFull ?? act.title)}
          </button>
        </footer>
      </form>
    </Dialog>
  )
}
