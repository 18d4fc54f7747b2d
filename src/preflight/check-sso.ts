/**
 * Logins by single sign-on as `lifeboat check` sees them. Whether Keystone's trusted_dashboard has the address of the pages, and
 * whether its web server and the identity provider play along, only a login in a browser shows.
 */
import type { CheckLine } from './check-lines.ts'
import { ensureError } from '../domain/errors.ts'
import type { SsoWay } from '../domain/token-holder.ts'
import { ok, skip, warn } from './check-lines.ts'

/** @param knows asks Keystone; AUTH_FORBIDDEN: its policy does not let us look */
export async function* ssoLines(
  ways: readonly SsoWay[],
  knows: (way: SsoWay) => Promise<boolean>,
): AsyncGenerator<CheckLine> {
  for (const way of ways) {
    const what = `login ${way.name}`
    const { protocol, identityProvider } = way
    const said = `protocol ${protocol} of ${identityProvider === null ? 'an identity provider' : `identity provider ${identityProvider}`}`
    try {
      yield (await knows(way))
        ? ok(what, `Keystone knows ${said}`)
        : warn(
            what,
            `Keystone does not know ${said}: its button in the pages leads to an error of Keystone's`,
            'Correct web.sso, or add it: openstack federation protocol list --identity-provider NAME',
          )
    } catch (thrown) {
      const { code, message } = ensureError(thrown)
      const why =
        code === 'AUTH_FORBIDDEN' || code === 'AUTH_FAILED'
          ? 'this credential may not see the protocols of Keystone’s federation'
          : message
      yield skip(what, why)
    }
  }
}
