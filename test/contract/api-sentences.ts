/** Versions, identities and error shapes. */
import { describe, expect, it } from 'vitest'
import { authenticate, identify, nova, tokenFor } from './cloud-under-test.ts'
import type { Scene } from './nova-contract.ts'

const nobody = '00000000-0000-0000-0000-00000000dead'

export function apiSentences(scene: Scene): void {
  describe('the API', () => {
    it('tells its highest and lowest microversion at its root', async () => {
      for (const slash of ['', '/']) {
        const reply = await nova(scene.cloud, 'GET', slash, undefined, { minor: null, token: null })
        expect(reply.status).toBe(200)
        expect(reply.body.version).toMatchObject({
          id: 'v2.1',
          status: 'CURRENT',
          min_version: '2.1',
          version: `2.${scene.cloud.maxMinor}`,
        })
      }
    })

    it('gives every answer a request id and repeats the microversion', async () => {
      for (const path of ['/servers', '/os-services', `/servers/${nobody}`]) {
        const { headers } = await nova(scene.cloud, 'GET', path)
        expect(headers.get('x-openstack-request-id')).toMatch(/^req-[0-9a-f-]{36}$/)
        expect(headers.get('openstack-api-version')).toBe('compute 2.90')
      }
    })

    it('takes no header for 2.1', async () => {
      const { headers } = await nova(scene.cloud, 'GET', '/servers', undefined, { minor: null })
      expect(headers.get('openstack-api-version')).toBe('compute 2.1')
    })

    it('answers 406 outside its range and names the range', async () => {
      const reply = await nova(scene.cloud, 'GET', '/servers', undefined, { minor: 999 })
      expect(reply.status).toBe(406)
      const message = `Version 2.999 is not supported by the API. Minimum is 2.1 and maximum is 2.${scene.cloud.maxMinor}.`
      expect(reply.body).toEqual({ computeFault: { code: 406, message } })
    })

    it('answers 400 to a microversion that is none', async () => {
      const reply = await nova(scene.cloud, 'GET', '/servers', undefined, { minor: 'abc' })
      expect(reply.status).toBe(400)
      expect(reply.body.badRequest.message).toContain('API Version String abc is of invalid format')
    })

    it('answers 401 without a token and with a wrong one', async () => {
      for (const token of [null, 'wrong']) {
        const reply = await nova(scene.cloud, 'GET', '/servers', undefined, { token })
        expect(reply.status).toBe(401)
        expect(reply.body.error).toMatchObject({ code: 401, title: 'Unauthorized' })
      }
    })

    it('answers 404 in three shapes: unknown server, unknown action, unknown path', async () => {
      const server = await nova(scene.cloud, 'GET', `/servers/${nobody}`)
      expect([server.status, server.body]).toEqual([
        404,
        { itemNotFound: { code: 404, message: `Instance ${nobody} could not be found.` } },
      ])
      const path = await nova(scene.cloud, 'GET', '/nothing-here')
      expect([path.status, path.body.title]).toEqual([404, 'Not Found'])
      const action = await nova(scene.cloud, 'POST', `/servers/${nobody}/action`, { evacuate: {} }, { minor: 90 })
      expect([action.status, action.body.itemNotFound.code]).toEqual([404, 404])
    })

    it('keeps services and migrations from those who are not admin', async () => {
      const token = await tokenFor(scene.cloud, scene.cloud.plainCredentials)
      for (const path of ['/os-services', '/os-migrations', '/os-aggregates']) {
        const reply = await nova(scene.cloud, 'GET', path, undefined, { token })
        expect([reply.status, reply.body.forbidden?.code]).toEqual([403, 403])
      }
    })

    it('Keystone answers 401 to a wrong password and gives a token with a catalogue for a right one', async () => {
      const { username, password, project } = scene.cloud.credentials
      const wrong = await authenticate(scene.cloud, username, 'wrong', project)
      expect([wrong.status, wrong.body.error.title]).toEqual([401, 'Unauthorized'])
      const right = await authenticate(scene.cloud, username, password, project)
      expect(right.status).toBe(201)
      expect(right.body.token.expires_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/)
      const compute = right.body.token.catalog.find((service: any) => service.type === 'compute')
      expect(compute.endpoints.find((at: any) => at.interface === 'public').url).toBe(scene.cloud.computeUrl)
    })

    it('Keystone rescopes a token to a project of the user, and to no other', async () => {
      const token = await tokenFor(scene.cloud)
      const rescope = (id: string, name: string): ReturnType<typeof identify> =>
        identify(scene.cloud, { methods: ['token'], token: { id } }, name)
      const own = await rescope(token, scene.cloud.credentials.project)
      // Keystone keeps the methods in a set: their order changes from one start of Keystone to the next.
      expect([own.status, own.body.token?.methods.sort()]).toEqual([201, ['password', 'token']])
      for (const other of [scene.cloud.plainCredentials.project, 'no-such-project']) {
        expect((await rescope(token, other)).status).toBe(401)
      }
      expect((await rescope('wrong', scene.cloud.credentials.project)).status).toBe(404)
    })

    it('Keystone answers 404 to an application credential that does not exist and 400 to a body without identity', async () => {
      const credential = { methods: ['application_credential'], application_credential: { id: 'nope', secret: 'x' } }
      expect((await identify(scene.cloud, credential)).status).toBe(404)
      expect((await identify(scene.cloud, undefined)).status).toBe(400)
    })
  })
}
