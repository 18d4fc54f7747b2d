/** Logins by the cloud's own single sign-on: a button each, which leads to Keystone. They come back to the daemon, not to this page. */
import { useEffect, useState } from 'preact/hooks'
import type { SsoOffer } from '../../domain/token-holder.ts'
import { get, postQuestion, type ApiFailure } from '../api/client.ts'
import { paths } from '../api/paths.ts'
import { after } from '../browser-clock.ts'

/** `missing`: why the daemon has not said what it offers; it is asked again. */
export type HeardOffer = SsoOffer & { missing: string | null }

const nothing: HeardOffer = { ways: [], refused: null, missing: null }

/** Between two tries. Shorter adds to the load of a daemon that is busy; longer, and people look for a button that is not there. */
const retryMs = 4_000

/** Nothing while the daemon has not said what it offers: a password and a token work without it. */
export function useSsoOffer(): HeardOffer {
  const [offer, setOffer] = useState(nothing)
  useEffect(() => {
    const gone = new AbortController()
    let cancel = (): void => undefined
    const look = (): void => {
      get<SsoOffer>(paths.sso, { signal: gone.signal }).then(
        (heard) => setOffer({ ...heard, missing: null }),
        (thrown: unknown) => {
          if (gone.signal.aborted) return
          setOffer({ ...nothing, missing: (thrown as ApiFailure).message })
          cancel = after(retryMs, look)
        },
      )
    }
    look()
    return () => {
      gone.abort()
      cancel()
    }
  }, [])
  return offer
}

/** @param to path of the page that is wanted after the login */
export function SingleSignOn({ offer: { ways, refused, missing }, to }: { offer: HeardOffer; to: string }) {
  const [failure, setFailure] = useState<string | null>(null)
  const leave = (name: string): void => {
    postQuestion<{ location: string }>(paths.sso, { name, to }).then(
      ({ location: keystone }) => location.assign(keystone),
      (thrown: unknown) => setFailure((thrown as ApiFailure).message),
    )
  }
  const why = failure ?? refused
  return (
    <>
      {why !== null && (
        <div class="notice bad" role="alert">
          <strong>Not logged in</strong>
          <p>{why}.</p>
        </div>
      )}
      {missing !== null && (
        <p class="under" role="status">
          Whether there is a single sign-on is not known: {missing}. Lifeboat is asked again by itself.
        </p>
      )}
      {ways.length > 0 && (
        <div class="ways" role="group" aria-label="Single sign-on">
          {ways.map(({ name }) => (
            <button key={name} type="button" class="primary" onClick={() => leave(name)}>
              {name}
            </button>
          ))}
        </div>
      )}
    </>
  )
}
