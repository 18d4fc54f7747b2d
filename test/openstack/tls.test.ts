import { afterEach, beforeEach, expect, it } from 'vitest'
import type { TlsChoice } from '../../src/openstack/cloud-config.ts'
import { RehearsedCloud, failure, loopbackPem } from './rehearsed-cloud.ts'

let cloud: RehearsedCloud
beforeEach(async () => {
  cloud = await RehearsedCloud.open({ tls: true })
})
afterEach(() => cloud.shut())

const none: TlsChoice = { verify: true, cacert: null, cert: null, key: null }

it('a certificate that nobody vouches for is refused before anything is sent', async () => {
  const error = await failure(cloud.client({ tls: none }).stop('i1'))
  expect(error).toMatchObject({ code: 'API_UNAVAILABLE', certainty: 'not-applied' })
  expect(String(error.cause)).toMatch(/self-signed certificate/)
  expect(cloud.asked).toHaveLength(0)
})

it('a certificate of the configured CA is accepted', async () => {
  expect((await cloud.client({ tls: { ...none, cacert: loopbackPem } }).capabilities()).landsStopped).toBe(true)
})

it('verify: false accepts any, even beside a cacert that cannot be read', async () => {
  const tls = { ...none, verify: false, cacert: '/nowhere.pem' }
  expect((await cloud.client({ tls }).capabilities()).landsStopped).toBe(true)
})

it('a cacert that cannot be read is refused at once', () => {
  expect(() => cloud.client({ tls: { ...none, cacert: '/nowhere.pem' } })).toThrow(
    /cacert \/nowhere\.pem cannot be read/,
  )
})

it.each(['cacert', 'cert', 'key'])('a %s that is a device is refused, and not waited for', (name) => {
  expect(() => cloud.client({ tls: { ...none, [name]: '/dev/null' } })).toThrow(
    `${name} /dev/null cannot be read: it is a device`,
  )
})

it('a write that breaks off over TLS has unknown effect', async () => {
  cloud.on('POST /v2.1/servers/i1/action', () => ({ instead: 'reset' }))
  const error = await failure(cloud.client({ tls: { ...none, cacert: loopbackPem } }).stop('i1'))
  expect(error).toMatchObject({ code: 'CONNECTION_LOST', certainty: 'unknown' })
})
