/**
 * Requests to Masakari's API, good and bad, in the order in which they are sent: each row of the contract at least once. They are played
 * against a real Masakari, whose answers are on record in answers.json, and against Lifeboat.
 *
 * The cloud has hosts cmp01 to cmp04 and no segment. No engine runs behind the real one, so that its notifications stay new, and none is shown
 * in 1.1 or later: Masakari asks its engine for the progress.
 */

export interface Asked {
  /** What is asked, for people; unique. */
  name: string
  method: 'GET' | 'POST' | 'PUT' | 'DELETE' | 'PATCH'
  /** `{rack}`: the UUID that was kept under that name, `{rack.id}` its number, `{project}` the project of the token. */
  path: string
  /** Who asks: an admin of the service's project, a member of another project, a token that is none, nobody. Default: the admin. */
  as?: 'admin' | 'member' | 'stranger' | 'nobody'
  /** The whole header OpenStack-API-Version. */
  version?: string
  /** Sent as JSON. */
  body?: unknown
  /** Sent as it is. */
  raw?: { type: string; content: string | Buffer }
  /** The answer's UUID and number are kept under this name. */
  keep?: string
}

type Rest = Omit<Asked, 'name' | 'method' | 'path'>

const get = (name: string, path: string, rest: Rest = {}): Asked => ({ name, method: 'GET', path, ...rest })
const post = (name: string, path: string, body: unknown, rest: Rest = {}): Asked => ({
  name,
  method: 'POST',
  path,
  body,
  ...rest,
})
const put = (name: string, path: string, body: unknown, rest: Rest = {}): Asked => ({
  name,
  method: 'PUT',
  path,
  body,
  ...rest,
})
const remove = (name: string, path: string, rest: Rest = {}): Asked => ({ name, method: 'DELETE', path, ...rest })

const newest = { version: 'instance-ha 1.3' }
const noUuid = '00000000-0000-4000-8000-000000000000'

const segment = (change: object = {}): object => ({
  segment: { name: 'rack', recovery_method: 'auto', service_type: 'COMPUTE', ...change },
})
const host = (change: object = {}): object => ({
  host: { name: 'cmp01', type: 'COMPUTE', control_attributes: 'SSH', ...change },
})
const unknownHost = { event: 'STOPPED', host_status: 'UNKNOWN', cluster_status: 'ONLINE' }
const notification = (change: object = {}): object => ({
  notification: {
    ...{ type: 'COMPUTE_HOST', hostname: 'cmp01', generated_time: '2026-01-01T00:00:01.938564', payload: unknownHost },
    ...change,
  },
})
const guest = {
  ...{ event: 'LIFECYCLE', vir_domain_event: 'STOPPED_FAILED' },
  instance_uuid: '2f2a7d1b-1b1b-4b1b-8b1b-000000000001',
}
const nested = (depth: number): string => `{"segment":${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}}`
const json = (content: string | Buffer): Rest => ({ raw: { type: 'application/json', content } })

const paths: Asked[] = [
  get('the versions', '/', { as: 'nobody' }),
  get('the version', '/v1', { as: 'nobody' }),
  get('the version, with a slash', '/v1/'),
  get('no segments', '/v1/segments'),
  get('no segments, by project', '/v1/{project}/segments'),
  get('segments of another project', `/v1/${'ab'.repeat(16)}/segments`),
  get('segments, with a slash', '/v1/segments/'),
  get('no notifications', '/v1/notifications'),
  get('the extensions', '/v1/extensions'),
  get('an extension', '/v1/extensions/os-hosts'),
  get('no extension', '/v1/extensions/none'),
  get('no route', '/v1/nothing'),
  get('no route below a segment', `/v1/segments/${noUuid}/nothing`),
  get('no route that is long', `/v1/${'x'.repeat(3_000)}`),
  get('another version', '/v2/segments', { as: 'nobody' }),
  get('a path without a version', '/segments', { as: 'nobody' }),
  { name: 'PATCH of segments', method: 'PATCH', path: '/v1/segments', body: {} },
  remove('DELETE of all segments', '/v1/segments'),
  remove('DELETE of a segment, with the type of a body that is not there', `/v1/segments/${noUuid}`, json('')),
  put('PUT of all segments', '/v1/segments', segment()),
  post('POST to a segment', `/v1/segments/${noUuid}`, segment()),
  post('an action of a segment', `/v1/segments/${noUuid}/action`, {}),
  put('PUT of a notification', `/v1/notifications/${noUuid}`, {}),
  remove('DELETE of a notification', `/v1/notifications/${noUuid}`),
  post('POST of vmoves', `/v1/notifications/${noUuid}/vmoves`, {}),
  remove('DELETE of all hosts', `/v1/segments/${noUuid}/hosts`),
]

const versions: Asked[] = [
  'masakari 1.2',
  'compute 2.1',
  'instance-ha',
  'compute 2.1, instance-ha 1.1',
  'instance-ha latest',
  'instance-ha 1.0',
  'instance-ha 1.3',
  'instance-ha 1',
  'instance-ha 0.9',
  'instance-ha 1.4',
  'instance-ha 2.0',
  'instance-ha 1.x',
  'instance-ha -1.1',
  'instance-ha 01.1',
].map((version) => get(`version ${version}`, '/v1/segments', { version }))

/** Which refusal comes first, if there is another reason beside a version that is none. */
const badVersions: Asked[] = ['instance-ha 1', 'instance-ha 1.4'].flatMap((version) => [
  get(`${version} without a token`, '/v1/segments', { version, as: 'nobody' }),
  get(`${version} with a token that is none`, '/v1/segments', { version, as: 'stranger' }),
  get(`${version} as a member`, '/v1/segments', { version, as: 'member' }),
  get(`${version} of another project`, `/v1/${'ab'.repeat(16)}/segments`, { version }),
  get(`${version} of no route`, '/v1/nothing', { version }),
  get(`${version} of the versions`, '/', { version, as: 'nobody' }),
  get(`${version} of the version`, '/v1/', { version }),
  get(`${version} of no such segment`, `/v1/segments/${noUuid}`, { version }),
  remove(`${version} of a method that is none`, '/v1/segments', { version }),
  post(`${version} with a body of XML`, '/v1/segments', undefined, {
    ...{ version, raw: { type: 'text/xml', content: '<segment/>' } },
  }),
  post(`${version} with a body that is no JSON`, '/v1/segments', undefined, { version, ...json('{') }),
])

const callers: Asked[] = [
  get('segments, without a token', '/v1/segments', { as: 'nobody' }),
  get('segments, with a token that is none', '/v1/segments', { as: 'stranger' }),
  get('segments, as a member', '/v1/segments', { as: 'member' }),
  post('a segment, as a member', '/v1/segments', segment(), { as: 'member' }),
  put('a change of a segment, as a member', `/v1/segments/${noUuid}`, segment(), { as: 'member' }),
  remove('the end of a segment, as a member', `/v1/segments/${noUuid}`, { as: 'member' }),
  remove('the end of a segment, as a member, with a type', `/v1/segments/${noUuid}`, { as: 'member', ...json('') }),
  get('hosts, as a member', `/v1/segments/${noUuid}/hosts`, { as: 'member' }),
  post('a host, as a member', `/v1/segments/${noUuid}/hosts`, host(), { as: 'member' }),
  get('notifications, as a member', '/v1/notifications', { as: 'member' }),
  post('a notification, as a member', '/v1/notifications', notification(), { as: 'member' }),
  get('vmoves, as a member', `/v1/notifications/${noUuid}/vmoves`, { as: 'member' }),
  get('extensions, as a member', '/v1/extensions', { as: 'member' }),
]

const bodies: Asked[] = [
  post('a segment that is no JSON', '/v1/segments', undefined, json('{')),
  post('an empty body', '/v1/segments', undefined, json('')),
  post('a body of null', '/v1/segments', undefined, json('null')),
  post('a body of text', '/v1/segments', undefined, json('"segment"')),
  post('a body that is a list', '/v1/segments', []),
  post('a body without the wrapper', '/v1/segments', { name: 'rack' }),
  post('a body with more than the wrapper', '/v1/segments', { ...segment(), more: 1 }),
  post('a segment that is a list', '/v1/segments', { segment: [] }),
  post('a segment that is null', '/v1/segments', { segment: null }),
  post('a body of XML', '/v1/segments', undefined, { raw: { type: 'text/xml', content: '<segment/>' } }),
  post('a body of plain text', '/v1/segments', undefined, { raw: { type: 'text/plain', content: 'segment' } }),
  post('a body that is too large', '/v1/segments', segment({ description: 'x'.repeat(120_000) })),
  post('a body that is deep', '/v1/segments', undefined, json(nested(400))),
  post('a body that is no UTF-8', '/v1/segments', undefined, json(Buffer.from('7b2273223a22ff227d', 'hex'))),
  post('a body with a prototype', '/v1/segments', undefined, json('{"segment":{"__proto__":{"name":"a"}}}')),
  post('a body with a number beyond all', '/v1/segments', undefined, json('{"segment":{"name":1e999}}')),
]

const segments: Asked[] = [
  post('a segment', '/v1/segments', segment(), { keep: 'rack' }),
  post('a segment, with a description', '/v1/segments', segment({ name: 'row', description: 'Row 1\nleft' }), {
    keep: 'row',
  }),
  post('a segment, disabled', '/v1/segments', segment({ name: 'off', enabled: false }), { ...newest, keep: 'off' }),
  post('a segment whose name is taken', '/v1/segments', segment()),
  post('a segment by project', '/v1/{project}/segments', segment({ name: 'by project' }), { keep: 'by project' }),
  post('a segment named in other letters', '/v1/segments', segment({ name: 'Größe-東' }), { keep: 'letters' }),
  post('a segment with the longest name', '/v1/segments', segment({ name: 'n'.repeat(255) }), { keep: 'long' }),
  ...(
    [
      ['no name', { name: undefined }],
      ['an empty name', { name: '' }],
      ['a name of blanks', { name: '   ' }],
      ['a name with a blank before it', { name: ' a' }],
      ['a name that is too long', { name: 'n'.repeat(256) }],
      ['a name with a zero', { name: 'a\u0000b' }],
      ['a name with a line break', { name: 'a\nb' }],
      ['a name outside of the basic plane', { name: 'a\u{1F680}' }],
      ['a number as name', { name: 7 }],
      ['null as name', { name: null }],
      ['an object as name', { name: { a: 1 } }],
      ['no recovery method', { recovery_method: undefined }],
      ['another recovery method', { recovery_method: 'AUTO' }],
      ['null as recovery method', { recovery_method: null }],
      ['no service type', { service_type: undefined }],
      ['an empty service type', { service_type: '' }],
      ['a service type that is too long', { service_type: 's'.repeat(256) }],
      ['a tab in its description', { description: 'a\tb' }],
      ['a number as description', { description: 1 }],
      ['enabled before 1.2', { enabled: true }],
      ['a field of its own', { id: 7 }],
      ['a uuid of its own', { uuid: noUuid }],
    ] as const
  ).map(([what, change]) => post(`a segment with ${what}`, '/v1/segments', segment({ name: 'bad', ...change }))),
  ...[1, 'maybe', null, 'TrUe'].map((enabled) =>
    post(
      `a segment with enabled ${JSON.stringify(enabled)}`,
      '/v1/segments',
      segment({ name: 'bad', enabled }),
      newest,
    ),
  ),
  get('a segment, shown', '/v1/segments/{rack}'),
  get('a segment, shown in 1.3', '/v1/segments/{rack}', newest),
  get('a segment with .json', '/v1/segments/{rack}.json'),
  get('no such segment', `/v1/segments/${noUuid}`),
  get('a segment by its name', '/v1/segments/rack'),
  get('a segment by its number', '/v1/segments/{rack.id}'),
  get('a segment by hostile text', '/v1/segments/%27%20OR%201=1--'),
  put('a change of its description', '/v1/segments/{rack}', { segment: { description: 'first' } }),
  put('a change to null', '/v1/segments/{rack}', { segment: { description: null } }),
  put('a change of its name', '/v1/segments/{row}', { segment: { name: 'row 2' } }),
  put('a change to the name that it has', '/v1/segments/{rack}', { segment: { name: 'rack' } }),
  put('a change to a name that is taken', '/v1/segments/{row}', { segment: { name: 'rack' } }),
  put(
    'a change of all',
    '/v1/segments/{row}',
    segment({ name: 'row', service_type: 'compute', recovery_method: 'rh_priority' }),
  ),
  put('a change of nothing', '/v1/segments/{rack}', { segment: {} }),
  put('a change of an unknown field', '/v1/segments/{rack}', { segment: { hosts: [] } }),
  put('a change to a bad method', '/v1/segments/{rack}', { segment: { recovery_method: 'none' } }),
  put('enabled before 1.2 in a change', '/v1/segments/{off}', { segment: { enabled: true } }),
  put('enabled in words', '/v1/segments/{off}', { segment: { enabled: 'on' } }, newest),
  put('a change of no such segment', `/v1/segments/${noUuid}`, { segment: { name: 'x' } }),
  put('a bad change of no such segment', `/v1/segments/${noUuid}`, { segment: {} }),
  remove('no such segment, deleted', `/v1/segments/${noUuid}`),
  remove('a segment, deleted', '/v1/segments/{long}'),
  remove('a segment, deleted again', '/v1/segments/{long}'),
  remove('a segment, deleted by project', '/v1/{project}/segments/{by project}'),
]

const hosts: Asked[] = [
  get('no hosts', '/v1/segments/{rack}/hosts'),
  get('hosts of no such segment', `/v1/segments/${noUuid}/hosts`),
  post('a host', '/v1/segments/{rack}/hosts', host(), { keep: 'cmp01' }),
  post(
    'a host with all fields',
    '/v1/segments/{row}/hosts',
    host({ name: 'cmp02', reserved: 'True', on_maintenance: 'no' }),
    { keep: 'cmp02' },
  ),
  post('a host without a type', '/v1/segments/{rack}/hosts', host({ name: 'cmp03', type: '' }), { keep: 'cmp03' }),
  post('a host that is there', '/v1/segments/{rack}/hosts', host()),
  post('a host that is in another segment', '/v1/segments/{row}/hosts', host()),
  post('a host of no such segment', `/v1/segments/${noUuid}/hosts`, host({ name: 'cmp04' })),
  post('a host that Nova does not know', '/v1/segments/{rack}/hosts', host({ name: 'zzz' })),
  ...(
    [
      ['no name', { name: undefined }],
      ['an empty name', { name: '' }],
      ['a name that is too long', { name: 'n'.repeat(256) }],
      ['no type', { type: undefined }],
      ['a dash in its type', { type: 'a-b' }],
      ['a type that is too long', { type: 't'.repeat(256) }],
      ['null as type', { type: null }],
      ['no control attributes', { control_attributes: undefined }],
      ['a tab in its control attributes', { control_attributes: 'a\tb' }],
      ['null as control attributes', { control_attributes: null }],
      ['a number for reserved', { reserved: 1 }],
      ['null for reserved', { reserved: null }],
      ['another word for on_maintenance', { on_maintenance: 'perhaps' }],
      ['a segment of its own', { failover_segment_id: noUuid }],
    ] as const
  ).map(([what, change]) =>
    post(`a host with ${what}`, '/v1/segments/{rack}/hosts', host({ name: 'cmp04', ...change })),
  ),
  get('hosts', '/v1/segments/{rack}/hosts'),
  get('a host, shown', '/v1/segments/{rack}/hosts/{cmp01}'),
  get('a host under another segment', '/v1/segments/{row}/hosts/{cmp01}'),
  get('a host by its number', '/v1/segments/{rack}/hosts/1'),
  get('no such host', `/v1/segments/{rack}/hosts/${noUuid}`),
  get('a host of no such segment, shown', `/v1/segments/${noUuid}/hosts/{cmp01}`),
  put('a change of a host', '/v1/segments/{rack}/hosts/{cmp01}', { host: { control_attributes: 'IPMI' } }),
  put('reserved in words', '/v1/segments/{rack}/hosts/{cmp01}', { host: { reserved: 'YES' } }),
  put('on_maintenance set', '/v1/segments/{rack}/hosts/{cmp01}', { host: { on_maintenance: 'True' } }),
  post('a notification of a host on maintenance', '/v1/notifications', notification()),
  put('on_maintenance cleared', '/v1/segments/{rack}/hosts/{cmp01}', { host: { on_maintenance: 'False' } }),
  put(
    'a change of all of a host',
    '/v1/segments/{rack}/hosts/{cmp01}',
    host({ reserved: 'False', on_maintenance: 'False' }),
  ),
  put('another name of a host', '/v1/segments/{rack}/hosts/{cmp03}', { host: { name: 'cmp04' } }),
  put('a name that another host has', '/v1/segments/{rack}/hosts/{cmp03}', { host: { name: 'cmp01' } }),
  put('a name that Nova does not know', '/v1/segments/{rack}/hosts/{cmp03}', { host: { name: 'zzz' } }),
  put('a change of nothing of a host', '/v1/segments/{rack}/hosts/{cmp01}', { host: {} }),
  put('a change of an unknown field of a host', '/v1/segments/{rack}/hosts/{cmp01}', { host: { id: 3 } }),
  put('a change of no such host', `/v1/segments/{rack}/hosts/${noUuid}`, { host: { reserved: true } }),
  put('a change of a host under another segment', '/v1/segments/{row}/hosts/{cmp01}', { host: { reserved: true } }),
  remove('no such host, deleted', `/v1/segments/{rack}/hosts/${noUuid}`),
  remove('a host under another segment, deleted', '/v1/segments/{row}/hosts/{cmp01}'),
  remove('a host and its segment swapped, deleted', '/v1/segments/{cmp01}/hosts/{rack}'),
  remove('a host, deleted', '/v1/segments/{rack}/hosts/{cmp03}'),
  remove('a host, deleted again', '/v1/segments/{rack}/hosts/{cmp03}'),
]

const times = [
  '2026-01-02T00:00:01',
  '2026-01-03 00:00:01.5',
  '2026-01-04T02:00:01+02:00',
  '20260105T000001Z',
  '2026-01-06',
  '2026-01-07T00:00:01Z',
]

const notifications: Asked[] = [
  post('a notification', '/v1/notifications', notification(), { keep: 'dead' }),
  post('a notification again', '/v1/notifications', notification()),
  post('a notification with another payload', '/v1/notifications', notification({ payload: { event: 'STOPPED' } })),
  post('a notification of another host', '/v1/notifications', notification({ hostname: 'cmp02' })),
  post(
    'a process',
    '/v1/notifications',
    notification({ type: 'PROCESS', payload: { event: 'STARTED', process_name: 'libvirtd' } }),
    { keep: 'process' },
  ),
  post('a guest', '/v1/notifications', notification({ type: 'VM', payload: guest }), { keep: 'guest' }),
  post(
    'a guest in capitals',
    '/v1/notifications',
    notification({
      type: 'VM',
      hostname: 'cmp02',
      payload: { ...guest, instance_uuid: guest.instance_uuid.toUpperCase() },
    }),
  ),
  post('a notification of a host that nobody knows', '/v1/notifications', notification({ hostname: 'zzz' })),
  ...times.map((generated_time) =>
    post(`a notification of ${generated_time}`, '/v1/notifications', notification({ generated_time })),
  ),
  ...['now', '', '2026-13-01', 'yesterday', '2026-01-01T25:00:00', 7, null].map((generated_time) =>
    post(`a notification of ${JSON.stringify(generated_time)}`, '/v1/notifications', notification({ generated_time })),
  ),
  ...(
    [
      ['no type', { type: undefined }],
      ['another type', { type: 'GUEST' }],
      ['a type in small letters', { type: 'vm' }],
      ['no host', { hostname: undefined }],
      ['an empty host', { hostname: '' }],
      ['a blank in the host', { hostname: 'cmp 01' }],
      ['a host that is too long', { hostname: 'h'.repeat(256) }],
      ['no payload', { payload: undefined }],
      ['a payload of text', { payload: 'STOPPED' }],
      ['an empty payload', { payload: {} }],
      ['a payload of an unknown event', { payload: { event: 'STALLED' } }],
      ['an event in small letters', { payload: { event: 'stopped' } }],
      ['an unknown status of the host', { payload: { event: 'STOPPED', host_status: 'DEAD' } }],
      ['an unknown status of the cluster', { payload: { event: 'STOPPED', cluster_status: 'DEAD' } }],
      ['a further key', { payload: { event: 'STOPPED', more: 'x' } }],
      ['a nested payload', { payload: { event: { a: 'STOPPED' } } }],
      ['a number in the payload', { payload: { event: 1 } }],
      ['a process without an event', { type: 'PROCESS', payload: { process_name: 'libvirtd' } }],
      ['a process without a name', { type: 'PROCESS', payload: { event: 'STOPPED' } }],
      ['a process with an empty name', { type: 'PROCESS', payload: { event: 'STOPPED', process_name: '' } }],
      [
        'a process whose name is too long',
        { type: 'PROCESS', payload: { event: 'STOPPED', process_name: 'p'.repeat(256) } },
      ],
      ['a guest that is no UUID', { type: 'VM', payload: { ...guest, instance_uuid: 'web' } }],
      ['a guest without its event', { type: 'VM', payload: { ...guest, vir_domain_event: undefined } }],
      ['a guest with an event that is too long', { type: 'VM', payload: { ...guest, event: 'e'.repeat(256) } }],
      ['a status of its own', { status: 'finished' }],
    ] as const
  ).map(([what, change]) => post(`a notification with ${what}`, '/v1/notifications', notification(change))),
  get('notifications', '/v1/notifications'),
  get('a notification, shown', '/v1/notifications/{dead}'),
  get('no such notification', `/v1/notifications/${noUuid}`),
  get('a notification by its number', '/v1/notifications/{dead.id}'),
  get('vmoves of a host', '/v1/notifications/{dead}/vmoves', newest),
  get('vmoves of a host in 1.0', '/v1/notifications/{dead}/vmoves'),
  get('vmoves of a process', '/v1/notifications/{process}/vmoves', newest),
  get('vmoves of a guest', '/v1/notifications/{guest}/vmoves', newest),
  get('vmoves of no such notification', `/v1/notifications/${noUuid}/vmoves`, newest),
  get('no such vmove', `/v1/notifications/{dead}/vmoves/${noUuid}`, newest),
]

const inUse: Asked[] = [
  post('a host that is reported', '/v1/segments/{off}/hosts', host({ name: 'cmp03' }), { keep: 'used' }),
  post(
    'a report of it',
    '/v1/notifications',
    notification({ hostname: 'cmp03', payload: { event: 'STOPPED', host_status: 'NORMAL' } }),
  ),
  post(
    'a report of it again, two minutes later',
    '/v1/notifications',
    notification({
      ...{ hostname: 'cmp03', generated_time: '2026-01-01T00:02:01' },
      payload: { event: 'STOPPED', host_status: 'NORMAL' },
    }),
  ),
  put('another name of a segment in use', '/v1/segments/{off}', { segment: { name: 'off 2' } }),
  remove('a segment in use, deleted', '/v1/segments/{off}'),
  put('another name of a host in use', '/v1/segments/{off}/hosts/{used}', { host: { name: 'cmp04' } }),
  remove('a host in use, deleted', '/v1/segments/{off}/hosts/{used}'),
  put('a description of a segment in use', '/v1/segments/{off}', { segment: { description: 'x' } }),
  put('a segment in use, disabled', '/v1/segments/{off}', { segment: { enabled: false } }, newest),
  put('a segment in use, enabled', '/v1/segments/{off}', { segment: { enabled: true } }, newest),
  put('a host in use, on maintenance', '/v1/segments/{off}/hosts/{used}', { host: { on_maintenance: true } }),
  put('a host in use, off maintenance', '/v1/segments/{off}/hosts/{used}', { host: { on_maintenance: false } }),
]

const listsOfSegments = [
  ...['limit=0', 'limit=1', 'limit=5000', 'limit=-1', 'limit=x', 'limit=', 'limit=1.5', 'marker=x', 'marker=999999'],
  // No UUID as the marker: Masakari refuses some and takes others, most likely by the digits that they begin with.
  ...['marker=', 'marker={rack.id}', 'marker={rack.id}&limit=1'],
  ...[
    'sort_key=name',
    'sort_key=none',
    'sort_key=name&sort_dir=asc',
    'sort_dir=up',
    'sort_key=name&sort_dir=asc&sort_dir=desc',
  ],
  ...['sort_key=name&sort_key=id&sort_dir=asc&sort_dir=desc', 'sort_key=id%3Bdrop'],
  ...[
    'recovery_method=auto',
    'recovery_method=none',
    'service_type=compute',
    'enabled=1',
    'enabled=True',
    'enabled=x',
    'unknown=1',
  ],
]

const lists: Asked[] = [
  ...listsOfSegments.map((query) => get(`segments with ${query}`, `/v1/segments?${query}`)),
  ...[
    'type=COMPUTE',
    'type=none',
    'reserved=true',
    'reserved=x',
    'on_maintenance=False',
    'on_maintenance=',
    'limit=1',
    'sort_key=x',
  ].map((query) => get(`hosts with ${query}`, `/v1/segments/{rack}/hosts?${query}`)),
  ...[
    'type=VM',
    'type=none',
    'status=none',
    'source_host_uuid={cmp02}',
    `source_host_uuid=${noUuid}`,
    'limit=2',
    'marker=x',
  ].map((query) => get(`notifications with ${query}`, `/v1/notifications?${query}`)),
  ...[
    'generated-since=2026-01-01',
    'generated-since=2036-01-01',
    'generated-since=x',
    'sort_key=type&sort_dir=asc',
  ].map((query) => get(`notifications with ${query}`, `/v1/notifications?${query}`)),
  ...['status=failed', 'type=evacuation', 'limit=x', 'sort_key=none'].map((query) =>
    get(`vmoves with ${query}`, `/v1/notifications/{dead}/vmoves?${query}`, newest),
  ),
]

/** Masakari takes them for the one that was sent first, whatever became of that. */
const repetitions: Asked[] = [
  post(
    'a notification again, two minutes later',
    '/v1/notifications',
    notification({ generated_time: '2026-01-01T00:02:01' }),
  ),
  post(
    'a notification again, an hour earlier',
    '/v1/notifications',
    notification({ generated_time: '2025-12-31T23:00:00' }),
  ),
]

/** In this order: later ones need what earlier ones made. */
export const requests: readonly Asked[] = [
  ...[paths, versions, badVersions, callers, bodies, segments, hosts, notifications, inUse, lists, repetitions].flat(),
]
