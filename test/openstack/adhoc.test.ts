import { it } from 'vitest'
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { loadCloudConfig } from '../../src/openstack/clouds-file.ts'
import { createCloud } from '../../src/openstack/cloud-client.ts'
import { systemClock } from '../../src/daemon/system-clock.ts'
import { errorRecord } from '../../src/domain/errors.ts'
const lab = '/work/main/test/lab/lab'
it('lab', async () => {
  writeFileSync('/tmp/os-clouds.yaml', execFileSync(lab, ['clouds']))
  const config = loadCloudConfig({ env: { OS_CLIENT_CONFIG_FILE: '/tmp/os-clouds.yaml' }, workDir: '/tmp', cloud: 'lab' })
  const seen: unknown[] = []
  const cloud = createCloud({ config, clock: systemClock, observer: { request: (r) => seen.push(`${r.method} ${r.route} ${r.result} ${r.tookMs.toFixed(0)} ${r.requestId}`) } })
  const show = async (name: string, work: () => Promise<unknown>) => {
    try { console.log(name, JSON.stringify(await work(), null, 1).slice(0, 1500)) } catch (e) { console.log(name, 'FAILED', JSON.stringify(errorRecord(e))) }
  }
  await show('describe', () => cloud.describe())
  await show('capabilities', () => cloud.capabilities())
  await show('services', async () => { const s = await cloud.listServices(); return [s.services.slice(0, 2), s.serverTimeMs, s.tookMs] })
  await show('instances', () => cloud.listInstances('cmp04'))
  const id = (await cloud.listInstances('cmp04')).find((i) => i.name.startsWith('os-'))?.id
  await show('changed', async () => (await cloud.listChangedInstances(new Date(Date.now() - 60_000).toISOString())).map((i) => [i.name, i.status]))
  await show('migrations', () => cloud.listMigrations({ host: 'cmp04' }))
  await show('groups', () => cloud.listServerGroups())
  await show('aggregates', () => cloud.listAggregates())
  await show('volumes', async () => [...(await cloud.getVolumes(['11111111-1111-1111-1111-111111111111']))])
  await show('mayAct own', async () => cloud.mayActFor((await cloud.describe()).project.id))
  await show('mayAct nobody', () => cloud.mayActFor('0123456789abcdef0123456789abcdef'))
  if (id !== undefined) {
    await show('get', () => cloud.getInstance(id))
    await show('gone', () => cloud.getInstance('11111111-1111-1111-1111-111111111111'))
    await show('evacuate', () => cloud.evacuate(id, { landing: 'stopped' }))
    await show('evacuate as-before', () => cloud.evacuate(id, { landing: 'as-before' }))
    await show('evacuate gone', () => cloud.evacuate('11111111-1111-1111-1111-111111111111', { landing: 'as-before' }))
    await show('lock', () => cloud.lock(id, 'os test'))
    await show('locked', async () => { const i = await cloud.getInstance(id); return [i.locked, i.lockedReason] })
    await show('unlock', () => cloud.unlock(id))
    await show('confirm', () => cloud.confirmResize(id))
    await show('start active', () => cloud.start(id))
    await show('stop', async () => { const a = await cloud.stop(id); return [a, a.requestId && await cloud.getAction(id, a.requestId)] })
    await show('reset', () => cloud.resetState(id))
    await show('actions', () => cloud.listActions(id))
    await show('noaction', () => cloud.getAction(id, 'req-11111111-1111-1111-1111-111111111111'))
  }
  const svc = (await cloud.listServices()).services.find((s) => s.host === 'cmp04')!
  await show('update enabled', () => cloud.updateService(svc.id!, { status: 'enabled' }))
  await show('update bad', () => cloud.updateService('11111111-1111-1111-1111-111111111111', { forcedDown: true }))
  console.log(seen.join('\n'))
})
