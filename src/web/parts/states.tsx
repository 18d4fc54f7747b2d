/** What a page shows instead of its content: loading, empty, failed, old. */
import type { ComponentChildren } from 'preact'
import type { ApiFailure } from '../api/client.ts'
import type { Resource } from '../api/resource.ts'

interface LoadedProps<T> {
  of: Resource<T>
  /** Where someone finds what there is, if this is not. */
  others?: ComponentChildren
  children: (value: T) => ComponentChildren
}

/** The value once it is there; before that, and when loading fails, what is the matter. */
export function Loaded<T>({ of, others, children }: LoadedProps<T>) {
  if (of.value === null) {
    if (of.failure === null) return <p class="loading">Loading…</p>
    if (of.failure.status !== 404) return <Problem title="Could not be loaded">{said(of.failure)}</Problem>
    return (
      <Problem title="Not found">
        {of.failure.message} {others}
      </Problem>
    )
  }
  return (
    <>
      {of.failure !== null && <Problem title="What you see is not the newest">{said(of.failure)}</Problem>}
      {children(of.value)}
    </>
  )
}

function said({ message, passing }: ApiFailure): string {
  return passing ? `${message}. Trying again.` : message
}

export function Problem({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <div class="notice bad" role="alert">
      <strong>{title}</strong>
      <p>{children}</p>
    </div>
  )
}

export function Empty({ children }: { children: ComponentChildren }) {
  return <p class="empty">{children}</p>
}
