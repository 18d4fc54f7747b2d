/** What a page shows instead of its content: loading, empty, failed, old. */
import type { ComponentChildren } from 'preact'
import type { ApiFailure } from '../api/client.ts'
import type { Resource } from '../api/resource.ts'

/** The value once it is there; before that, and when loading fails, what is the matter. */
export function Loaded<T>({ of, children }: { of: Resource<T>; children: (value: T) => ComponentChildren }) {
  if (of.value === null) {
    if (of.failure === null) return <p class="loading">Loading…</p>
    return <Problem title={of.failure.status === 404 ? 'Not found' : 'Could not be loaded'}>{said(of.failure)}</Problem>
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
