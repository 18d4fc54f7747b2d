/** What a page shows instead of its content: loading, empty, failed, old. */
import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useState } from 'preact/hooks'
import type { ApiFailure } from '../api/client.ts'
import type { Resource } from '../api/resource.ts'
import { PageHead } from './page.tsx'
import { Stamped } from './text.tsx'

/** Over what was loaded before, and could not be loaded again. */
export const notNewest = 'What you see is not the newest'

interface LoadedProps<T> {
  of: Resource<T>
  /** The heading to show where the value could not be loaded, for a page whose heading comes with it. */
  heading?: string
  /** Of a page that is about one thing: its heading where there is no such thing. */
  absent?: string
  /** Where someone finds what there is, if this is not. */
  others?: ComponentChildren
  children: (value: T) => ComponentChildren
}

/** The value once it is there; before that, and when loading fails, what is the matter. */
export function Loaded<T>({ of, heading, absent, others, children }: LoadedProps<T>) {
  const { value, failure } = of
  if (value === null) {
    if (failure === null) return <p class="loading">Loading…</p>
    if (failure.status !== 404)
      return (
        <>
          {heading !== undefined && <PageHead title={heading} />}
          <Failed of={failure} />
        </>
      )
    return (
      <>
        {absent !== undefined && <PageHead title={absent} />}
        <Problem title="Not found" list={failure.problems}>
          {failure.message}
        </Problem>
        {others !== undefined && (
          <p class="ways-on">
            {others}. The search above finds hosts, incidents and instances by a part of their name or id.
          </p>
        )}
      </>
    )
  }
  return (
    <>
      {failure !== null && <Failed title={notNewest} of={failure} />}
      {children(value)}
    </>
  )
}

interface FailedProps {
  title?: string | undefined
  of: ApiFailure
}

/** What is the matter, and whether it is tried again; nothing where another part of the page says the same. */
export function Failed({ title = 'Could not be loaded', of: { message, passing, problems } }: FailedProps) {
  const said = passing ? `${message}. Trying again.` : message
  const saysSo = useFirstToSay(`${title}: ${said}`)
  if (!saysSo) return null
  return (
    <Problem title={title} list={problems}>
      <Stamped text={said} />
    </Problem>
  )
}

/** What is said now, by whom: one daemon that does not answer is one message, however many parts of a page it fills. */
const speakers = new Map<string, symbol[]>()
const listeners = new Set<() => void>()

/** Whether no other part says the same already. */
function useFirstToSay(message: string): boolean {
  const [me] = useState(() => Symbol('part'))
  const [, redraw] = useState(0)
  useLayoutEffect(() => {
    const tell = (): void => {
      for (const listener of listeners) listener()
    }
    const again = (): void => redraw((times) => times + 1)
    listeners.add(again)
    speakers.set(message, [...(speakers.get(message) ?? []), me])
    tell()
    return () => {
      listeners.delete(again)
      speakers.set(
        message,
        (speakers.get(message) ?? []).filter((one) => one !== me),
      )
      tell()
    }
  }, [message, me])
  return speakers.get(message)?.[0] === me
}

interface ProblemProps {
  title: string
  list?: readonly string[]
  children: ComponentChildren
}

export function Problem({ title, list = [], children }: ProblemProps) {
  return (
    <div class="notice bad" role="alert">
      <strong>{title}</strong>
      <p>{children}</p>
      {list.length > 0 && (
        <ul>
          {list.map((one) => (
            <li key={one}>
              <Stamped text={one} />
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}

export function Empty({ children }: { children: ComponentChildren }) {
  return <p class="empty">{children}</p>
}
