/** Where the daemon listens, and who may ask there: what cannot be is refused with its place and what is allowed. */
import { describe, expect, it, test } from 'vitest'
import { parse, problemsIn } from './configurations.ts'

const anAddress = 'must be ADDRESS:PORT, e.g. 127.0.0.1:9393 or [::1]:9393, or false for no listener'

describe('an address that the daemon cannot listen on', () => {
  it.each([
    ['http', '127.0.0.1:70000', 'port 70000 does not exist (0 to 65535)'],
    ['masakari_api', '127.0.0.1:70000', 'port 70000 does not exist (0 to 65535)'],
    ['masakari_api', '15868', `15868 ${anAddress}`],
    ['masakari_api', '127.0.0.1', `"127.0.0.1" ${anAddress}`],
    ['masakari_api', 'true', `true ${anAddress}`],
  ])('%s.listen: %s', (option, listen, says) => {
    expect(problemsIn(`${option}:\n  listen: ${listen}\n`)).toEqual([`lifeboat.yaml:2:11: ${option}.listen: ${says}`])
  })

  it.each(['127.0.0.256:15868', '10.0.0:15868', '[::1::2]:15868'])('%s is no address', (listen) => {
    expect(problemsIn(`masakari_api: { listen: '${listen}', insecure_plaintext: true }\n`)).toEqual([
      `lifeboat.yaml:1:25: masakari_api.listen: ${listen.replace(/:15868$/, '')} is no address (e.g. 127.0.0.1, [::1], or the name of this machine)`,
    ])
  })
})

describe('a port that another listener of the daemon has', () => {
  it.each([
    ['of the pages, by default', "{ listen: '127.0.0.1:9394' }", 'web.listen has port 9394 too'],
    ['of metrics, by default', "{ listen: '127.0.0.1:9393' }", 'http.listen has port 9393 too'],
    ['under another name of this machine', "{ listen: 'localhost:9394' }", 'web.listen has port 9394 too'],
    ['on all addresses', "{ listen: '0.0.0.0:9394', insecure_plaintext: true }", 'web.listen has port 9394 too'],
  ])('%s', (_which, section, says) => {
    expect(problemsIn(`masakari_api: ${section}\n`)).toEqual([
      `lifeboat.yaml:1:25: masakari_api.listen: ${says} (each listener a port of its own)`,
    ])
  })

  it.each([
    "masakari_api: { listen: '127.0.0.1:15868' }",
    "masakari_api: { listen: '127.0.0.2:9394' }",
    "web: { listen: false }\nmasakari_api: { listen: '127.0.0.1:9394' }",
    "web: { listen: '127.0.0.1:0' }\nmasakari_api: { listen: '127.0.0.1:0' }",
  ])('is none in: %s', (text) => {
    expect(parse(text).masakariApi).not.toBeNull()
  })
})

test.each(['readers', 'writers', 'reporters'])('%s of Masakari’s API are names of roles', (option) => {
  const says = 'must be the name of a role, without blanks at its ends, e.g. reader'
  expect(problemsIn(`masakari_api: { ${option}: [admin, 'monitor ', ''] }\n`)).toEqual([
    expect.stringMatching(`masakari_api\\.${option}\\[1\\]: "monitor " ${says}`),
    expect.stringMatching(`masakari_api\\.${option}\\[2\\]: "" ${says}`),
  ])
  expect(problemsIn(`masakari_api: { ${option}: admin }\n`)).toEqual([
    expect.stringMatching(`masakari_api\\.${option}: "admin" is wrong \\(must be a list\\)`),
  ])
})
