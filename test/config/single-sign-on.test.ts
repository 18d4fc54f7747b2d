/** Logins by single sign-on in the configuration: what is taken, and what is refused with its place. */
import { describe, expect, it } from 'vitest'
import { parse, problemsIn } from './configurations.ts'

it('has a name and a protocol, and perhaps an identity provider', () => {
  const sso = '[{ name: Company login, protocol: openid }, { name: B, protocol: saml2, identity_provider: acme }]'
  expect(parse(`web: { sso: ${sso} }\n`).webRules.sso).toEqual([
    { name: 'Company login', protocol: 'openid', identityProvider: null },
    { name: 'B', protocol: 'saml2', identityProvider: 'acme' },
  ])
  expect(parse('').webRules.sso).toEqual([])
})

describe('is refused', () => {
  it.each([
    ['without a protocol', '{ name: A }', 'web.sso[0].protocol is missing'],
    ['without a name', '{ protocol: openid }', 'web.sso[0].name is missing'],
    ['with a name of blanks', "{ name: ' ', protocol: openid }", 'web.sso[0].name: " " must be 1 to 60 characters'],
    [
      'with a part of an address',
      '{ name: A, protocol: a/b }',
      'web.sso[0].protocol: "a/b" must be its id in Keystone',
    ],
    ['with the way up', '{ name: A, protocol: .. }', 'web.sso[0].protocol: ".." must be its id in Keystone'],
    [
      'with an identity provider that is none',
      "{ name: A, protocol: openid, identity_provider: 'a b' }",
      'web.sso[0].identity_provider: "a b" must be its id in Keystone',
    ],
    ['with a slip', '{ name: A, protocol: openid, idp: x }', 'web.sso[0].idp is not an option'],
  ])('%s', (_what, way, problem) => {
    expect(problemsIn(`web: { sso: [${way}] }\n`)).toEqual([expect.stringContaining(problem)])
  })

  it('under a name that another has: the button is known by it', () => {
    const sso = '[{ name: A, protocol: openid }, { name: A, protocol: saml2 }]'
    expect(problemsIn(`web: { sso: ${sso} }\n`)).toEqual([
      'lifeboat.yaml:1:53: web.sso[1].name: there are two logins called "A" (each name once)',
    ])
  })
})
