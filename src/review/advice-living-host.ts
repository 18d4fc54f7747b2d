/**
 * What a person must do about an incident whose host lives: a guest that crashed, or a nova-compute that failed. Nothing is evacuated
 * there, and no advice may ask for that. Pure.
 */
import { failureOf, type Incident } from '../domain/incident.ts'
import type { InstanceId } from '../domain/instance.ts'
import type { OutcomeKind } from '../domain/outcome.ts'

interface WayOut {
  text: string
  command: string | null
}

/** Null: the host itself failed. */
export function aboutObservedOnLivingHost(incident: Incident): WayOut | null {
  const { host, process, crashed, instances } = incident
  switch (failureOf(incident)) {
    case 'process':
      return {
        text: `Nothing was sent: Lifeboat only observes. While ${process} of ${host} fails, Nova may still send guests there: disable its service by hand; or set \`mode: armed\` and reload, and Lifeboat does it`,
        command: 'lifeboat reload',
      }
    case 'instance':
      return {
        text: `Nothing was sent: Lifeboat only observes. If ${crashed?.name ?? 'the instance'} is still off, restart it by hand. With \`mode: armed\` Lifeboat restarts it when it crashes again`,
        command: hardReboot([...instances.keys()]),
      }
    case 'host':
      return null
  }
}

/** About the one instance of a crash, which did not come back. @param codes of its outcome */
export function aboutCrashed(
  { host, crashed }: Incident,
  outcome: Exclude<OutcomeKind, 'recovered'>,
  codes: string,
): WayOut {
  const name = crashed?.name ?? 'The instance'
  const id = crashed?.instance ?? ''
  switch (outcome) {
    case 'left':
      return {
        text: `${name} is left as it is (${codes}). Its host lives: its owner or you decide what becomes of it`,
        command: `openstack server show ${id}`,
      }
    case 'failed':
      return {
        text: `${name} is not restarted (${codes}), and Lifeboat does not try again before it crashes again. Remove the cause on ${host}, then restart it by hand`,
        command: hardReboot([id]),
      }
    case 'stuck':
      return {
        text: `${name} is stuck (${codes}): nobody can tell whether Nova carried out what Lifeboat sent. Look at its history in Nova, and at its guest on ${host}, before you restart it`,
        command: `openstack server event list --long ${id}`,
      }
  }
}

/** Nova takes it in whatever state the crash left the instance: active, stopped or in ERROR. */
function hardReboot([id]: readonly InstanceId[]): string | null {
  return id === undefined ? null : `openstack server reboot --hard ${id}`
}
