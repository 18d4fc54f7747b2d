/** What each trouble of a script does to the lab, and how it is taken back. */
import { lab } from '../nova/lab.ts'
import { pauseMs } from '../nova/stage.ts'
import { order, type Order } from './owners.ts'
import type { Trouble, TroubleKind } from './script.ts'
import type { ChaosStage } from './stage.ts'

interface Play {
  begin(stage: ChaosStage, trouble: Trouble): unknown
  /** Awaited as `begin` is. */
  end?(stage: ChaosStage, trouble: Trouble): unknown
}

const ordered = (what: Order): Play => ({
  begin: (stage, { target }) => order(stage.cloud, stage.guest(target), what),
})

const part = (name: string): Play => ({
  begin: () => lab('kill', name),
  end: () => lab('start', name),
})

/** A nova-conductor that is started without these ends at once (docs/nova.md §2.2); a supervisor would start it again. */
const neededByConductor = (name: string): Play => ({
  begin: () => lab('kill', name),
  end: async () => {
    await lab('start', name)
    // One that was started too early takes some seconds to end.
    for (let starts = 0; starts < 5; starts++) {
      await lab('start', 'nova-conductor')
      await pauseMs(3_000)
    }
  },
})

const fault = (key: string, value: string): Play => ({
  begin: (_stage, { target }) => lab('fault', target, `${key}=${value}`),
  end: (_stage, { target }) => lab('fault', target, `${key}=null`),
})

const dies: Play = {
  begin: (stage, { target }) => stage.die(target, 'crash'),
}

const plays: Record<TroubleKind, Play> = {
  'owner-stops': ordered('stops'),
  'owner-starts': ordered('starts'),
  'owner-deletes': ordered('deletes'),
  'owner-locks': ordered('locks'),
  'owner-reboots': ordered('reboots'),
  'owner-confirms-resize': ordered('confirms-resize'),
  // One who evacuates from a host that lives makes the guest run twice with their own hands.
  'admin-evacuates': {
    begin: async (stage, { target }) => {
      const guest = stage.guest(target)
      if (!(await stage.runsSomewhere(guest.id))) await order(stage.cloud, guest, 'evacuates')
    },
  },
  'destination-dies': dies,
  'second-host-dies': dies,
  'destination-is-slow': fault('slow', '6'),
  'destination-cannot-spawn': fault('fail', 'true'),
  'destination-cannot-stop': fault('stop_fail', 'true'),
  'host-returns': { begin: (_stage, { target }) => lab('start', target) },
  'bmc-is-away': {
    begin: (_stage, { target }) => lab('bmc', target, 'reachable=false'),
    end: (_stage, { target }) => lab('bmc', target, 'reachable=true'),
  },
  'rabbitmq-dies': part('rabbitmq'),
  'conductor-dies': part('nova-conductor'),
  'scheduler-dies': part('nova-scheduler'),
  'api-dies': part('nova-api'),
  'placement-dies': neededByConductor('placement'),
  'keystone-dies': neededByConductor('keystone'),
  'daemon-is-killed': {
    begin: ({ daemon }) => daemon.kill(),
    end: ({ daemon }) => daemon.launch(),
  },
  'daemon-restarts': {
    begin: ({ daemon }) => daemon.stop(),
    end: ({ daemon }) => daemon.launch(),
  },
  'daemon-stands-still': {
    begin: ({ daemon }) => daemon.standStill(),
    end: ({ daemon }) => daemon.goOn(),
  },
  'daemon-stands-still-while-its-host-returns': {
    begin: async ({ daemon }, { target }) => {
      daemon.standStill()
      await lab('start', target)
    },
    end: ({ daemon }) => daemon.goOn(),
  },
}

/** How long a moment of the recovery is waited for. Other trouble may keep it from coming: then this one strikes without it. */
const waitLimitMs = 40_000

/** Waits for the trouble's moment, strikes, and takes it back when its time is over. Gives what it did. */
export async function strike(stage: ChaosStage, trouble: Trouble): Promise<string> {
  const { begin, end } = plays[trouble.kind]
  const limit = Date.now() + waitLimitMs
  while (!stage.reached(trouble.at) && Date.now() < limit) await pauseMs(100)
  await pauseMs(trouble.afterMs)
  const at = new Date().toISOString()
  await begin(stage, trouble)
  await pauseMs(trouble.forMs)
  await end?.(stage, trouble)
  return `${trouble.kind} ${trouble.target}: ${at} to ${new Date().toISOString()}`
}
