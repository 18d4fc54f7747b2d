/** A bare client for the benchmark's own requests: no retries, no cleverness, so that it is a floor to compare with. */

export class NovaClient {
  #access
  #computeUrl
  #token = ''

  /** @param access in the words of clouds.yaml; @param computeUrl the root with its version, ending in /v2.1 */
  constructor(access, computeUrl) {
    this.#access = access
    this.#computeUrl = computeUrl
  }

  /** One request. Throws on any status that is not below 300. */
  async call(method, path, body, minor = 90) {
    const headers = { 'X-Auth-Token': await this.login(), 'OpenStack-API-Version': `compute 2.${minor}` }
    if (body !== undefined) headers['Content-Type'] = 'application/json'
    const init = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) }
    const answer = await fetch(this.#computeUrl + path, init)
    const text = await answer.text()
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`)
    return text === '' ? {} : JSON.parse(text)
  }

  /** The row of nova-compute on a host. */
  async service(host) {
    return (await this.call('GET', `/os-services?binary=nova-compute&host=${host}`)).services[0]
  }

  /** A token; the first call asks for one, the others use it. */
  async login() {
    if (this.#token !== '') return this.#token
    const { auth_url: url, username, password, project_name: project } = this.#access
    const domain = { name: this.#access.user_domain_name }
    const identity = { methods: ['password'], password: { user: { name: username, password, domain } } }
    const scope = { project: { name: project, domain: { name: this.#access.project_domain_name } } }
    const answer = await fetch(`${url}/auth/tokens`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ auth: { identity, scope } }),
    })
    this.#token = answer.headers.get('x-subject-token') ?? ''
    if (this.#token === '') throw new Error(`no token: ${answer.status} ${await answer.text()}`)
    return this.#token
  }
}
