import { expect, it } from 'vitest'
import { LifeboatError } from '../../src/domain/errors.ts'
import type { SsoWay } from '../../src/domain/token-holder.ts'
import { ssoLines } from '../../src/preflight/check-sso.ts'

const named: SsoWay = { name: 'Company login', protocol: 'openid', identityProvider: 'acme' }
const unnamed: SsoWay = { name: 'Other', protocol: 'saml2', identityProvider: null }

async function said(knows: (way: SsoWay) => Promise<boolean>): Promise<string[]> {
  const lines: string[] = []
  for await (const { result, what, message } of ssoLines([named, unnamed], knows))
    lines.push(`${result} ${what}: ${message}`)
  return lines
}

it('says of each login whether Keystone knows its protocol', async () => {
  expect(await said(async ({ identityProvider }) => identityProvider !== null)).toEqual([
    'ok login Company login: Keystone knows protocol openid of identity provider acme',
    "warn login Other: Keystone does not know protocol saml2 of an identity provider: its button in the pages leads to an error of Keystone's",
  ])
})

it.each([
  ['AUTH_FORBIDDEN', 'this credential may not see the protocols of Keystone’s federation'],
  ['API_UNAVAILABLE', 'not reached'],
] as const)('does not call a login wrong that it cannot look at: %s', async (code, why) => {
  expect(await said(() => Promise.reject(new LifeboatError(code, 'not reached')))).toEqual([
    `skip login Company login: not checked: ${why}`,
    `skip login Other: not checked: ${why}`,
  ])
})
