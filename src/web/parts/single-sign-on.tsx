/** Logins by the cloud's own single sign-on: a button each, which leads to Keystone. They come back to the daemon, not to this page. */
import { useEffect, useState } from 'preact/hooks'
import type { SsoOffer } from '../../domain/token-holder.ts'
import { get, post, type ApiFailure } from '../api/client.ts'
import { paths } from '../api/paths.ts'

const nothing: SsoOffer = { ways: [], refused: null }

/** Nothing while the daemon has not said what it offers: a password and a token work without it. */
export function useSsoOffer(): SsoOffer {
  const [offer, setOffer] = useState(nothing)
  useEffect(() => {
    get<SsoOffer>(paths.sso).then(setOffer, () => undefined)
  }, [])
  return offer
}

/** @param to path of the page that is wanted after the login */
export function SingleSignOn({ offer: { ways, refused }, to }: { offer: SsoOffer; to: string }) {
  const [failure, setFailure] = useState<string | null>(null)
  const leave = (name: string): void => {
    post<{ location: string }>(paths.sso, { name, to }).then(
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
